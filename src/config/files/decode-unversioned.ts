/**
 * Decodes a YAML or JSON configuration that has no apiVersion and kind. As in Go's encoding/json,
 * field names are case-insensitive, and unknown fields are ignored.
 */
import { JsonMap } from '../../api/json-map.ts'
import { JsonScanner } from '../../api/json-scanner.ts'
import { readAny } from '../../api/json-value.ts'
import { type Fields, isFields } from '../../api/object.ts'
import { decodeStruct } from '../../objects/codec/decode.ts'
import { jsonTypeOf, printOrdered } from '../../objects/codec/json.ts'
import type { Struct } from '../../objects/schema/schema.ts'
import { CONFIG_BYTES_MAX, tooLarge } from './config-file.ts'
import { type FileFault, goBlanks, readText } from './decode-file.ts'

const jsonStart = new RegExp(`^[${goBlanks}]*\\{`)

export function decodeUnversioned(
  bytes: Buffer,
  struct: Struct,
): { readonly fields: Fields } | FileFault {
  if (bytes.length > CONFIG_BYTES_MAX) return { fault: tooLarge(bytes) }
  if (bytes.length === 0) return { fault: 'EOF' }
  const read = readText(bytes, { isYamlOnly: true })
  if ('fault' in read) return { fault: `error converting YAML to JSON: ${read.fault}` }
  const prefix = jsonStart.test(bytes.toString('utf8'))
    ? ''
    : 'error unmarshaling JSON: while decoding JSON: '
  const value = readAny(new JsonScanner(read.json))
  if (value === null) return { fields: {} }
  if (!isFields(value)) {
    return {
      fault: `${prefix}json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${struct.goName}`,
    }
  }
  const { value: fields, fault } = decodeStruct(printOrdered(withNames(value, struct)), struct)
  return fault === undefined ? { fields } : { fault: `${prefix}${fault}` }
}

/**
 * Renames the fields to the names that the struct declares. Names are matched case-insensitively,
 * and fields that the struct does not declare are dropped.
 */
function withNames(fields: Fields, struct: Struct): Fields {
  const named = new JsonMap()
  for (const name of Object.keys(fields)) {
    const value = fields[name] ?? null
    const field = struct.fields.find((one) => one.name.toLowerCase() === name.toLowerCase())
    if (field === undefined) continue
    named[field.name] =
      isFields(value) && field.schema.type === 'struct' ? withNames(value, field.schema) : value
  }
  return named
}
