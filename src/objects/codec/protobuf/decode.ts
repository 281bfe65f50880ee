/**
 * Decodes protobuf to an object with a known schema. The result is the same as that of decoding
 * JSON. A zero value or an empty message is left out if it means the same as an absent value. Times
 * and quantities are strings. Unknown fields are skipped, as in Go.
 */
import { JsonMap } from '../../../api/json-map.ts'
import { isFields, type Json } from '../../../api/object.ts'
import { isDivided, repeat } from '../../../lib/scheduling/parts.ts'
import type { Field, Schema, Struct } from '../../schema/schema.ts'
import { isTarget, isZeroTime, type Target, zeroOf } from '../decode.ts'
import { openDecoder } from './open-types.ts'
import { type Decode, ProtobufError, type ProtobufReader } from './reader.ts'
import {
  readIntOrString,
  readMicroTime,
  readQuantity,
  readRaw,
  readTime,
} from './small-messages.ts'
import { BYTES, FIXED64, VARINT } from '../../../lib/bytes/protobuf-writer.ts'

type FieldDecoder = {
  readonly wireType: number
  /** Name of the field in Go, as used in error messages. */
  readonly goName: string
  readonly into: (target: Target, reader: ProtobufReader) => void
}

/** Decoders of each struct, indexed by field number. */
const decoders = new WeakMap<Struct, readonly (FieldDecoder | undefined)[]>()

/**
 * Decodes the fields of a message into `target`. Throws a `ProtobufError` if the message is
 * invalid.
 */
export function decodeMessage(reader: ProtobufReader, struct: Struct, target: Target): Target {
  const fields = fieldDecoders(struct)
  if (isDivided()) return decodeInParts(reader, fields, target)
  while (reader.at < reader.end) decodeField(reader, fields, target)
  return target
}

function decodeInParts(
  reader: ProtobufReader,
  fields: readonly (FieldDecoder | undefined)[],
  target: Target,
): Target {
  const begin = (): { readonly target: Target; at: number } => ({ target, at: reader.at })
  const read = repeat(reader.at, begin, (now) => {
    reader.at = now.at
    if (reader.at >= reader.end) return false
    decodeField(reader, fields, now.target)
    now.at = reader.at
    return true
  })
  reader.at = read.at
  return read.target
}

function decodeField(
  reader: ProtobufReader,
  fields: readonly (FieldDecoder | undefined)[],
  target: Target,
): void {
  reader.takeField()
  const tag = reader.tag()
  const field = fields[tag >>> 3]
  if (field === undefined) return reader.skip(tag & 7)
  if (field.wireType !== (tag & 7)) {
    throw new ProtobufError(`proto: wrong wireType = ${tag & 7} for field ${field.goName}`)
  }
  field.into(target, reader)
}

function fieldDecoders(struct: Struct): readonly (FieldDecoder | undefined)[] {
  const known = decoders.get(struct)
  if (known !== undefined) return known
  const made: (FieldDecoder | undefined)[] = []
  // Cache the type before its fields are compiled, because they can contain the type again.
  decoders.set(struct, made)
  const inlined = new Set(struct.embedded.flatMap((one) => one.struct.fields))
  for (const field of struct.fields) {
    if (field.number > 0 && !inlined.has(field)) made[field.number] = fieldDecoder(field, struct)
  }
  for (const { number, struct: inner } of struct.embedded) {
    if (number > 0) made[number] = embeddedDecoder(inner)
  }
  return made
}

const embeddedDecoder = (struct: Struct): FieldDecoder => ({
  wireType: BYTES,
  goName: struct.name,
  into: (target, reader) => reader.message(() => decodeMessage(reader, struct, target)),
})

function fieldDecoder(field: Field, owner: Struct): FieldDecoder {
  const { name, schema, isPointer } = field
  const goName =
    name === 'metadata' ? 'ObjectMeta' : `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  if (schema.type === 'map')
    return { wireType: BYTES, goName, into: mapInto(name, schema.of, owner) }
  const isRepeated = schema.type === 'list' && schema.isWrapped !== true
  const of = isRepeated ? schema.of : schema
  const { wireType, decode } = valueDecoder(of, owner)
  if (isRepeated) return { wireType, goName, into: itemInto(name, decode, of) }
  const into = (target: Target, reader: ProtobufReader): void => {
    const value = decode(reader, target[name])
    if (isPointer || !isZero(value, schema)) target[name] = value
    else delete target[name]
  }
  return { wireType, goName, into }
}

/**
 * Whether a value is left out if it is optional. An empty port name is kept, because it differs
 * from an absent one.
 */
const isZero = (value: Json, schema: Schema): boolean =>
  (value === '' && schema.type !== 'intOrString') ||
  isZeroTime(value, schema) ||
  value === 0 ||
  value === false ||
  value === null ||
  (isFields(value) && Object.keys(value).length === 0)

function itemInto(name: string, decode: Decode, of: Schema): FieldDecoder['into'] {
  return (target, reader) => {
    const item = decode(reader, undefined)
    reader.takeItem(item, of)
    const items = target[name]
    // Only this decoder uses the list, so it may be changed.
    if (isGrowing(items)) items.push(item)
    else target[name] = [item]
  }
}

const isGrowing = (value: Json | undefined): value is Json[] => Array.isArray(value)

function mapInto(name: string, of: Schema, owner: Struct): FieldDecoder['into'] {
  const { wireType, decode } = valueDecoder(of, owner)
  return (target, reader) =>
    reader.message(() => {
      let key = ''
      let value: Json | undefined
      reader.fields((tag) => {
        if (tag === 8 + BYTES) key = reader.text()
        else if (tag === 16 + wireType) value = decode(reader, undefined)
        else return false
        return true
      })
      const existing = target[name]
      const entries = existing instanceof JsonMap ? existing : new JsonMap()
      // Reading the value can be interrupted and repeated. Count the entry only now, so that it is
      // counted once.
      reader.takeEntry()
      entries[key] = value ?? zeroOf(of)
      target[name] = entries
    })
}

function valueDecoder(
  schema: Schema,
  owner: Struct,
): { readonly wireType: number; readonly decode: Decode } {
  switch (schema.type) {
    case 'string':
      return { wireType: BYTES, decode: (reader) => reader.text() }
    case 'bytes':
      return { wireType: BYTES, decode: (reader) => reader.base64() }
    case 'boolean':
      return { wireType: VARINT, decode: (reader) => reader.int64() !== 0 }
    case 'int32':
      return { wireType: VARINT, decode: (reader) => reader.int32() }
    case 'int64':
      return { wireType: VARINT, decode: (reader) => reader.int64() }
    case 'float64':
      return { wireType: FIXED64, decode: (reader) => reader.double() }
    case 'time':
    case 'microTime':
      return {
        wireType: BYTES,
        decode: (reader) => reader.message(schema.type === 'time' ? readTime : readMicroTime),
      }
    case 'quantity':
      return { wireType: BYTES, decode: (reader) => reader.message(readQuantity) }
    case 'intOrString':
      return { wireType: BYTES, decode: (reader) => reader.message(readIntOrString) }
    case 'raw':
      return { wireType: BYTES, decode: (reader) => reader.message(readRaw) }
    case 'any':
      return { wireType: BYTES, decode: openDecoder(schema.goName, owner, decodeMessage) }
    case 'struct': {
      // If a message occurs twice, both are merged.
      const decode: Decode = (reader, existing) =>
        reader.message(() => decodeMessage(reader, schema, isTarget(existing) ? existing : {}))
      return { wireType: BYTES, decode }
    }
    case 'list':
      return { wireType: BYTES, decode: wrappedDecoder(schema.of, owner) }
    case 'map':
      throw new Error(`protobuf has no map inside a map or a list: ${schema.goName}`)
  }
}

function wrappedDecoder(of: Schema, owner: Struct): Decode {
  const { wireType, decode } = valueDecoder(of, owner)
  const readItem = (reader: ProtobufReader, items: Json[]): void => {
    const tag = reader.tag()
    if (tag === 8 + wireType) items.push(decode(reader, undefined))
    else reader.skip(tag & 7)
  }
  return (reader) =>
    reader.message(() => {
      const begin = (): { readonly items: Json[]; at: number } => ({ items: [], at: reader.at })
      const read = repeat(reader.at, begin, (now) => {
        reader.at = now.at
        if (reader.at >= reader.end) return false
        readItem(reader, now.items)
        now.at = reader.at
        return true
      })
      reader.at = read.at
      return read.items
    })
}
