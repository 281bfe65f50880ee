import type { Headers } from '../../api/request.ts'
import { type Form, jsonType, protobufType, yamlType } from '../../codec/negotiate.ts'

/** Of an answer. A conversion is not told: clients see it by the kind. */
export const contentHeaders: { readonly [type in Form['type']]: Headers } = {
  json: { 'content-type': jsonType },
  yaml: { 'content-type': yamlType },
  protobuf: { 'content-type': protobufType },
}

/** Of a watch. */
export const streamHeaders: { readonly [type in 'json' | 'protobuf']: Headers } = {
  json: contentHeaders.json,
  protobuf: { 'content-type': `${protobufType};stream=watch` },
}
