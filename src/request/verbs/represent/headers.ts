import type { Headers } from '../../../api/request.ts'
import {
  cborStreamType,
  cborType,
  type Form,
  jsonType,
  protobufType,
  yamlType,
} from '../../../objects/codec/negotiate.ts'

/**
 * Headers of a response. The content type does not contain a conversion (`as=Table`), which clients
 * recognize by the kind.
 */
export const contentHeaders: { readonly [type in Form['type']]: Headers } = {
  json: { 'content-type': jsonType },
  yaml: { 'content-type': yamlType },
  protobuf: { 'content-type': protobufType },
  cbor: { 'content-type': cborType },
}

export type StreamForm = Exclude<Form['type'], 'yaml'>

/** Headers of a watch response. */
export const streamHeaders: { readonly [type in StreamForm]: Headers } = {
  json: contentHeaders.json,
  protobuf: { 'content-type': `${protobufType};stream=watch` },
  cbor: { 'content-type': cborStreamType },
}
