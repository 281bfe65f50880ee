/**
 * Encodes JSON values as CBOR in the same way as Kubernetes. Strings are byte strings. Bytes have a
 * tag that converts them to base64 in JSON. Numbers have the shortest exact encoding, and all
 * lengths are definite.
 */
import { type Fields, isFields, type Json } from '../../../api/object.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Steps } from '../../../lib/scheduling/slices.ts'
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
 * Encodes a whole document, preceded by the tag of self-described CBOR. The schema determines which
 * strings are bytes and which numbers are floats.
 */
export const encodeCbor = (value: Json, schema?: Schema): Buffer =>
  Buffer.concat([cborPrefix, encodeItem(value, schema)])

/** Encodes a value that is only a part of a document, so it does not begin with the tag. */
export function encodeItem(value: Json, schema?: Schema): Buffer {
  const steps = encodeInSteps(value, schema)
  for (;;) {
    const { done, value: made } = steps.next()
    if (done === true) return made
  }
}

/** Does the same as `encodeItem`, but yields from time to time, for large values. */
export function* encodeInSteps(value: Json, schema?: Schema): Steps<Buffer> {
  const writer = new Writer()
  yield* writer.value(value, schema)
  return writer.bytes
}

/** Returns the header of an array. The encoded items must follow it. */
export function arrayHead(items: number): Buffer {
  const writer = new Writer()
  writer.head(ARRAY, items)
  return writer.bytes
}

/**
 * Returns a document without its end: all of `fields`, and the key `last`. The encoded value of
 * this key must follow.
 */
export function openMap(fields: Fields, last: string): Buffer {
  const writer = new Writer()
  writer.head(MAP, Object.keys(fields).length + 1)
  const parts = [cborPrefix, writer.bytes]
  for (const [key, value] of Object.entries(fields))
    parts.push(encodeItem(key), encodeItem(value ?? null))
  return Buffer.concat([...parts, encodeItem(last)])
}

/**
 * Number of values that are encoded between two yields. Encoding them takes a few hundred
 * microseconds.
 */
const VALUES_PER_STEP = 1024
const SMALL_BYTES = 256
/** Maximum size of a header in bytes. A number has the same maximum size. */
const HEAD_BYTES_MAX = 9

class Writer {
  #bytes = Buffer.allocUnsafeSlow(SMALL_BYTES)
  #length = 0
  #values = 0

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  *value(value: Json, schema: Schema | undefined): Steps<void> {
    if (isScalar(value)) return this.#scalar(value, schema)
    if (!isFields(value)) {
      this.head(ARRAY, value.length)
      const of = schema?.type === 'list' ? schema.of : undefined
      for (const item of value) {
        if (isScalar(item)) this.#scalar(item, of)
        else yield* this.value(item, of)
        if (++this.#values % VALUES_PER_STEP === 0) yield
      }
      return
    }
    const keys = Object.keys(value).filter((key) => value[key] !== undefined)
    this.head(MAP, keys.length)
    for (const key of keys) {
      this.#text(key, undefined)
      const field = value[key] ?? null
      if (isScalar(field)) this.#scalar(field, fieldSchema(schema, key))
      else yield* this.value(field, fieldSchema(schema, key))
      if (++this.#values % VALUES_PER_STEP === 0) yield
    }
  }

  head(type: number, value: number | bigint): void {
    this.#grow(HEAD_BYTES_MAX)
    if (value < 24) {
      this.#bytes[this.#length++] = type | Number(value)
      return
    }
    const [info, size] =
      value < 2 ** 8 ? [24, 1] : value < 2 ** 16 ? [25, 2] : value < 2 ** 32 ? [26, 4] : [27, 8]
    this.#bytes[this.#length++] = type | info
    if (size === 8) this.#bytes.writeBigUInt64BE(BigInt(value), this.#length)
    else this.#bytes.writeUIntBE(Number(value), this.#length, size)
    this.#length += size
  }

  #scalar(value: Scalar, schema: Schema | undefined): void {
    if (typeof value === 'string') this.#text(value, schema)
    else if (typeof value === 'bigint') {
      // As in Go, an integer outside of the range of an int64 becomes a float.
      if (BigInt.asIntN(64, value) === value) this.#integer(value)
      else this.#float(Number(value))
    } else if (typeof value === 'number') {
      const isInteger =
        Number.isSafeInteger(value) && !Object.is(value, -0) && schema?.type !== 'float64'
      if (isInteger) this.#integer(value)
      else this.#float(value)
    } else {
      this.#grow(1)
      this.#bytes[this.#length++] = value === null ? NULL : value ? TRUE : FALSE
    }
  }

  #text(text: string, schema: Schema | undefined): void {
    if (schema?.type === 'bytes') {
      const bytes = Buffer.from(text, 'base64')
      this.#grow(1)
      this.#bytes[this.#length++] = TAG_BASE64
      this.head(BYTES, bytes.length)
      this.#grow(bytes.length)
      this.#length += bytes.copy(this.#bytes, this.#length)
      return
    }
    const length = Buffer.byteLength(text)
    this.head(BYTES, length)
    this.#grow(length)
    this.#length += this.#bytes.write(text, this.#length)
  }

  #integer(value: number | bigint): void {
    if (value >= 0) this.head(UNSIGNED, value)
    else this.head(NEGATIVE, typeof value === 'bigint' ? -1n - value : -1 - value)
  }

  #float(value: number): void {
    this.#grow(HEAD_BYTES_MAX)
    const half = halfBits(value)
    const isSingle = Math.fround(value) === value
    this.#bytes[this.#length++] = half !== undefined ? HALF : isSingle ? SINGLE : DOUBLE
    if (half !== undefined) this.#length = this.#bytes.writeUInt16BE(half, this.#length)
    else if (isSingle) this.#length = this.#bytes.writeFloatBE(value, this.#length)
    else this.#length = this.#bytes.writeDoubleBE(value, this.#length)
  }

  /**
   * Makes room for more bytes. The size doubles each time, so that each byte is copied at most
   * twice on average.
   */
  #grow(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#length + bytes, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

type Scalar = string | number | bigint | boolean | null

const isScalar = (value: Json): value is Scalar => typeof value !== 'object' || value === null

function fieldSchema(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema?.type === 'struct') return schema.byName.get(key)?.schema
  return schema?.type === 'map' ? schema.of : undefined
}

const HALF_MAX = 65_504
/** The smallest normal half-precision number. Smaller numbers are multiples of HALF_STEP. */
const HALF_NORMAL_MIN = 2 ** -14
const HALF_STEP = 2 ** -24

/**
 * Returns the number as a half-precision float, or undefined if it cannot be represented exactly.
 */
function halfBits(value: number): number | undefined {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const size = Math.abs(value)
  if (size > HALF_MAX) return undefined
  if (size < HALF_NORMAL_MIN)
    return Number.isInteger(size / HALF_STEP) ? sign | (size / HALF_STEP) : undefined
  const exponent = Math.floor(Math.log2(size))
  const fraction = (size / 2 ** exponent - 1) * 1024
  return Number.isInteger(fraction) ? sign | ((exponent + 15) << 10) | fraction : undefined
}
