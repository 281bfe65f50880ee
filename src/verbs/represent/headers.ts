import type { Headers } from '../../api/request.ts'
import { cborStreamType, cborType, type Form, jsonType, protobufType, yamlType } from '../../codec/negotiate.ts'

/** Of an answer. A conversion is not told: clients see it by the kind. */
export const contentHeaders: { readonly [type in Form['type']]: Headers } = {
  json: { 'content-type': jsonType },
  yaml: { 'content-type': yamlType },
  protobuf: { 'content-type': protobufType },
  cbor: { 'content-type': cborType },
}

export type StreamForm = Exclude<Form['type'], 'yaml'>

/** Of a watch. */
export const streamHeaders: { readonly [type in StreamForm]: Headers } = {
  json: contentHeaders.json,
  protobuf: { 'content-type': `${protobufType};stream=watch` },
  cbor: { 'content-type': cborStreamType },
}
