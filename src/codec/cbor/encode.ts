/**
 * Encodes JSON values as CBOR as Kubernetes does: strings as byte strings, bytes tagged to become base64, numbers in the shortest
 * encoding that is exact, only definite lengths.
 */
import { type Fields, isFields, type Json } from '../../api/object.ts'
import type { Schema } from '../../schema/schema.ts'
import { cborPrefix } from './to-json.ts'

const UNSIGNED = 0x00
const NEGATIVE = 0x20
const BYTES = 0x40
const ARRAY = 0x80
const MAP = 0xa0
const FALSE = 0xf4
const TRUE = 0xf5
const NULL = 0xf6
const HALF = 0xf9
const SINGLE = 0xfa
const DOUBLE = 0xfb
/** Tag 22: expected conversion to base64. */
const TAG_BASE64 = 0xd6

/**
 * A whole document, with the tag of self-described CBOR before it. The schema tells which strings are bytes, and which numbers are
 * floats.
 */
export const encodeCbor = (value: Json, schema?: Schema): Buffer =>
  Buffer.concat([cborPrefix, encodeItem(value, schema)])

/** The same for a part of a document. */
export function encodeItem(value: Json, schema?: Schema): Buffer {
  const parts: Buffer[] = []
  add(value, schema, parts)
  return Buffer.concat(parts)
}

/** The head of an array, whose items follow. */
export const arrayHead = (items: number): Buffer => headOf(ARRAY, items)

/** A document of these fields and then of one more, whose value follows. */
export function openMap(fields: Fields, last: string): Buffer {
  const parts = [cborPrefix, headOf(MAP, Object.keys(fields).length + 1)]
  for (const [key, value] of Object.entries(fields)) parts.push(encodeItem(key), encodeItem(value ?? null))
  return Buffer.concat([...parts, encodeItem(last)])
}

function add(value: Json, schema: Schema | undefined, parts: Buffer[]): void {
  if (value === null) parts.push(byte(NULL))
  else if (typeof value === 'string') addText(value, schema, parts)
  else if (typeof value === 'boolean') parts.push(byte(value ? TRUE : FALSE))
  else if (typeof value === 'bigint') {
    // As in Go: an integer beyond int64 becomes a float.
    parts.push(BigInt.asIntN(64, value) === value ? integer(value) : float(Number(value)))
  } else if (typeof value === 'number') {
    const isInteger = Number.isSafeInteger(value) && !Object.is(value, -0) && schema?.type !== 'float64'
    parts.push(isInteger ? integer(value) : float(value))
  } else if (isFields(value)) {
    const keys = Object.keys(value).filter((key) => value[key] !== undefined)
    parts.push(headOf(MAP, keys.length))
    for (const key of keys) {
      addText(key, undefined, parts)
      add(value[key] ?? null, fieldSchema(schema, key), parts)
    }
  } else {
    parts.push(arrayHead(value.length))
    for (const item of value) add(item, schema?.type === 'list' ? schema.of : undefined, parts)
  }
}

function fieldSchema(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema?.type === 'struct') return schema.byName.get(key)?.schema
  return schema?.type === 'map' ? schema.of : undefined
}

function addText(text: string, schema: Schema | undefined, parts: Buffer[]): void {
  const isBytes = schema?.type === 'bytes'
  const bytes = Buffer.from(text, isBytes ? 'base64' : 'utf8')
  if (isBytes) parts.push(byte(TAG_BASE64))
  parts.push(headOf(BYTES, bytes.length), bytes)
}

const byte = (value: number): Buffer => Buffer.from([value])

const integer = (value: number | bigint): Buffer =>
  value < 0 ? headOf(NEGATIVE, typeof value === 'bigint' ? -1n - value : -1 - value) : headOf(UNSIGNED, value)

function headOf(type: number, value: number | bigint): Buffer {
  if (value < 24) return byte(type | Number(value))
  const [info, size] = value < 2 ** 8 ? [24, 1] : value < 2 ** 16 ? [25, 2] : value < 2 ** 32 ? [26, 4] : [27, 8]
  const head = Buffer.allocUnsafe(1 + size)
  head[0] = type | info
  if (size === 8) head.writeBigUInt64BE(BigInt(value), 1)
  else head.writeUIntBE(Number(value), 1, size)
  return head
}

function float(value: number): Buffer {
  const half = halfBits(value)
  if (half !== undefined) return Buffer.from([HALF, half >> 8, half & 0xff])
  const isSingle = Math.fround(value) === value
  const bytes = Buffer.allocUnsafe(isSingle ? 5 : 9)
  bytes[0] = isSingle ? SINGLE : DOUBLE
  if (isSingle) bytes.writeFloatBE(value, 1)
  else bytes.writeDoubleBE(value, 1)
  return bytes
}

const HALF_MAX = 65_504
/** The smallest normal number, and the distance between subnormal ones. */
const HALF_NORMAL_MIN = 2 ** -14
const HALF_STEP = 2 ** -24

/** Undefined where 16 bits do not hold the number exactly. */
function halfBits(value: number): number | undefined {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const size = Math.abs(value)
  if (size > HALF_MAX) return undefined
  if (size < HALF_NORMAL_MIN) return Number.isInteger(size / HALF_STEP) ? sign | (size / HALF_STEP) : undefined
  const exponent = Math.floor(Math.log2(size))
  const fraction = (size / 2 ** exponent - 1) * 1024
  return Number.isInteger(fraction) ? sign | ((exponent + 15) << 10) | fraction : undefined
}
