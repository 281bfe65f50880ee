/**
 * Encodes values as protobuf according to their schema. The bytes are exactly those of Go's
 * generated code: fields are in the order of their numbers, map keys are sorted, and a field that
 * is not a pointer is written even if it is zero. A schema is compiled to functions once, and
 * encoding only calls them. They write the last field first, as lib/bytes/protobuf-writer.ts
 * explains.
 */
import { type Fields, fieldsOf, isFields } from '../../../api/object.ts'
import { isDivided, once, repeat } from '../../../lib/scheduling/parts.ts'
import type { Dictionary, Field, List, Schema, Struct } from '../../schema/schema.ts'
import { compareKeys } from '../json.ts'
import { openEncoder } from './open-types.ts'
import {
  type Encode,
  writeBase64,
  writeInteger,
  writeIntOrString,
  writeQuantity,
  writeRaw,
  writeText,
  writeTime,
} from './small-messages.ts'
import { BYTES, FIXED64, VARINT, type ProtobufWriter } from '../../../lib/bytes/protobuf-writer.ts'

/** Encodes one field with its tag. `fields` are the fields of the object that contains it. */
type EncodeField = (fields: Fields, writer: ProtobufWriter) => void

/** Encoders, cached by schema. They depend only on the schema. */
const encoders = new WeakMap<Struct, readonly EncodeField[]>()

/** Writes the message of a struct, without tag and length. */
export function encodeMessage(value: Fields, struct: Struct, writer: ProtobufWriter): void {
  for (const encode of fieldEncoders(struct)) encode(value, writer)
}

function fieldEncoders(struct: Struct): readonly EncodeField[] {
  const known = encoders.get(struct)
  if (known !== undefined) return known
  const made: EncodeField[] = []
  // Cache the type before its fields are compiled, because they can contain the type again.
  encoders.set(struct, made)
  const inlined = new Set(struct.embedded.flatMap((one) => one.struct.fields))
  const own = struct.fields
    .filter((field) => field.number > 0 && !inlined.has(field))
    .map((field) => ({ number: field.number, encode: encodeField(field, struct) }))
  const embedded = struct.embedded
    .filter(({ number }) => number > 0)
    .map(({ number, struct: inner }) => ({ number, encode: embeddedEncoder(number, inner) }))
  const sorted = [...own, ...embedded].toSorted((a, b) => b.number - a.number)
  // Bounded: a type has a fixed number of fields
  made.push(...sorted.map(({ encode }) => encode))
  return made
}

const embeddedEncoder =
  (number: number, struct: Struct): EncodeField =>
  (fields, writer) =>
    writer.message(number, () => encodeMessage(fields, struct, writer))

/**
 * Returns the encoder of a field that has a field number. The encoder receives all fields of the
 * owner, and writes the tag and the value.
 */
export function encodeField(
  { name, schema, number, isPointer }: Field,
  owner: Struct,
): EncodeField {
  if (schema.type === 'list' && schema.isWrapped !== true)
    return listEncoder(name, number, schema, owner)
  if (schema.type === 'map') return mapEncoder(name, number, schema, owner)
  const encode = taggedEncoder(number, schema, owner)
  const isLeftOut = isPointer || schema.type === 'bytes' || schema.type === 'list'
  return (fields, writer) => {
    const value = fields[name] ?? null
    if (value !== null || !isLeftOut) encode(value, writer)
  }
}

/** Returns the encoder of a list. Items are written in reverse order. */
function listEncoder(name: string, number: number, { of }: List, owner: Struct): EncodeField {
  const encode = taggedEncoder(number, of, owner)
  return (fields, writer) => {
    const items = fields[name]
    if (!Array.isArray(items)) return
    if (isDivided()) return encodeInParts(items, (item) => encode(item, writer), writer)
    for (let at = items.length - 1; at >= 0; at--) encode(items[at], writer)
  }
}

/** Returns the encoder of a map. Each entry is a message that consists of a key and a value. */
function mapEncoder(name: string, number: number, { of }: Dictionary, owner: Struct): EncodeField {
  const encode = taggedEncoder(2, of, owner)
  return (fields, writer) => {
    const entries = fields[name]
    if (!isFields(entries)) return
    const keys = once('sorted keys of protobuf map', () =>
      Object.keys(entries).toSorted(compareKeys),
    )
    const write = (key: string): void =>
      writer.message(number, () => {
        encode(entries[key] ?? null, writer)
        writeText(key, writer)
        writer.tag(1, BYTES)
      })
    if (isDivided()) return encodeInParts(keys, write, writer)
    for (let at = keys.length - 1; at >= 0; at--) write(keys[at] ?? '')
  }
}

/**
 * Writes items in reverse order. In work that is divided into parts, an interrupted item is removed
 * from the output and written again.
 */
function encodeInParts<T>(
  items: readonly T[],
  write: (item: T) => void,
  writer: ProtobufWriter,
): void {
  const begin = (): { left: number; length: number } => ({
    left: items.length,
    length: writer.length,
  })
  const written = repeat('protobuf items', begin, (now) => {
    writer.rewind(now.length)
    const item = items[now.left - 1]
    if (item === undefined) return false
    write(item)
    now.left--
    now.length = writer.length
    return true
  })
  writer.rewind(written.length)
}

/**
 * Returns an encoder that writes a tag and a value. For null, it writes the zero value of the type.
 */
function taggedEncoder(number: number, schema: Schema, owner: Struct): Encode {
  const { wireType, encode } = valueEncoder(schema, owner)
  if (wireType === BYTES && isMessage(schema)) {
    return (value, writer) => {
      const before = writer.length
      encode(value, writer)
      writer.varint(writer.length - before)
      writer.tag(number, BYTES)
    }
  }
  return (value, writer) => {
    encode(value, writer)
    writer.tag(number, wireType)
  }
}

/**
 * Whether `taggedEncoder` must write the length of the value. For strings and bytes, their own
 * encoders do this.
 */
const isMessage = ({ type }: Schema): boolean => type !== 'string' && type !== 'bytes'

function valueEncoder(
  schema: Schema,
  owner: Struct,
): { readonly wireType: number; readonly encode: Encode } {
  switch (schema.type) {
    case 'string':
      return { wireType: BYTES, encode: writeText }
    case 'bytes':
      return { wireType: BYTES, encode: writeBase64 }
    case 'boolean':
      return { wireType: VARINT, encode: (value, writer) => writer.byte(value === true ? 1 : 0) }
    case 'int32':
    case 'int64':
      return { wireType: VARINT, encode: writeInteger }
    case 'float64':
      return {
        wireType: FIXED64,
        encode: (value, writer) => writer.double(typeof value === 'number' ? value : 0),
      }
    case 'time':
    case 'microTime':
      return { wireType: BYTES, encode: writeTime }
    case 'quantity':
      return { wireType: BYTES, encode: writeQuantity }
    case 'intOrString':
      return { wireType: BYTES, encode: writeIntOrString }
    case 'raw':
      return { wireType: BYTES, encode: writeRaw }
    case 'any':
      return { wireType: BYTES, encode: openEncoder(schema.goName, owner, encodeMessage) }
    case 'struct': {
      const fields = fieldEncoders(schema)
      const encode: Encode = (value, writer) => {
        const object = fieldsOf(value)
        for (const field of fields) field(object, writer)
      }
      return { wireType: BYTES, encode }
    }
    case 'list': {
      const items = listEncoder('items', 1, schema, owner)
      return { wireType: BYTES, encode: (value, writer) => items({ items: value }, writer) }
    }
    case 'map':
      throw new Error(`protobuf has no map inside a map or a list: ${schema.goName}`)
  }
}
