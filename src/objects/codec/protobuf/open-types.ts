/**
 * Encodes and decodes types of CRD schemas that have several forms in JSON, but only one message in
 * protobuf: any JSON, a schema or a list of schemas, a schema or a boolean, and a schema or a list
 * of strings. A schema inside such a value has the type of the struct that contains the field.
 */
import { type Fields, fieldsOf, isFields, type Json } from '../../../api/object.ts'
import type { Struct } from '../../schema/schema.ts'
import type { Target } from '../decode.ts'
import type { Decode, ProtobufReader } from './reader.ts'
import { type Encode, readJson, writeJson, writeText } from './small-messages.ts'
import { BYTES, VARINT, type ProtobufWriter } from '../../../lib/bytes/protobuf-writer.ts'

export function openEncoder(
  goName: string,
  owner: Struct,
  encodeMessage: (value: Fields, struct: Struct, writer: ProtobufWriter) => void,
): Encode {
  const writeSchema = (number: number, value: Json, writer: ProtobufWriter): void =>
    writer.message(number, () => encodeMessage(fieldsOf(value), owner, writer))
  switch (goName) {
    case 'v1.JSONSchemaPropsOrArray':
      return (value, writer) => {
        if (Array.isArray(value))
          for (const item of value.toReversed()) writeSchema(2, item, writer)
        else if (isFields(value)) writeSchema(1, value, writer)
      }
    case 'v1.JSONSchemaPropsOrBool':
      return (value, writer) => {
        if (isFields(value)) writeSchema(2, value, writer)
        // If there is a schema, the boolean field (`allows` in Go) must be true.
        writer.byte(value === true || isFields(value) ? 1 : 0)
        writer.tag(1, VARINT)
      }
    case 'v1.JSONSchemaPropsOrStringArray':
      return (value, writer) => {
        if (isFields(value)) return writeSchema(1, value, writer)
        for (const item of Array.isArray(value) ? value.toReversed() : []) {
          writeText(item, writer)
          writer.tag(2, BYTES)
        }
      }
    default:
      return writeJson
  }
}

export function openDecoder(
  goName: string,
  owner: Struct,
  decodeMessage: (reader: ProtobufReader, struct: Struct, target: Target) => Target,
): Decode {
  const readSchema: Decode = (reader) => reader.message(() => decodeMessage(reader, owner, {}))
  switch (goName) {
    case 'v1.JSONSchemaPropsOrArray':
      return (reader) =>
        reader.message(() => readEither(reader, { single: readSchema, item: readSchema }))
    case 'v1.JSONSchemaPropsOrBool':
      return (reader) => reader.message(() => readSchemaOrBool(reader, readSchema))
    case 'v1.JSONSchemaPropsOrStringArray':
      return (reader) =>
        reader.message(() => readEither(reader, { single: readSchema, item: () => reader.text() }))
    default:
      return (reader) => reader.message(readJson)
  }
}

/** Reads a single value from field 1 or a list from field 2. */
function readEither(
  reader: ProtobufReader,
  { single, item }: { readonly single: Decode; readonly item: Decode },
): Json {
  const items: Json[] = []
  let one: Json | undefined
  reader.fields((tag) => {
    if (tag === 8 + BYTES) one = single(reader, undefined)
    else if (tag === 16 + BYTES) items.push(item(reader, undefined))
    else return false
    return true
  })
  return one ?? items
}

function readSchemaOrBool(reader: ProtobufReader, readSchema: Decode): Json {
  let isAllowed: Json = false
  let schema: Json | undefined
  reader.fields((tag) => {
    if (tag === 8 + VARINT) isAllowed = reader.int64() !== 0
    else if (tag === 16 + BYTES) schema = readSchema(reader, undefined)
    else return false
    return true
  })
  return schema ?? isAllowed
}
