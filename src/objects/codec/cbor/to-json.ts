/**
 * Converts CBOR (RFC 8949) to JSON text, so that code for JSON can process it. A byte string is a
 * JSON string, unless a tag converts it to base64. Floats keep a decimal point, so that they differ
 * from integers. Input that Kubernetes does not accept is rejected with the error messages of its
 * Go library.
 */
import { isUtf8 } from 'node:buffer'
import { printString } from '../json.ts'
import { epochText, timeText } from './times.ts'

/** Tag of self-described CBOR. It identifies stored values that are encoded as CBOR. */
export const cborPrefix: Buffer = Buffer.from([0xd9, 0xd9, 0xf7])

export const isCbor = (bytes: Buffer): boolean =>
  bytes[0] === 0xd9 && bytes[1] === 0xd9 && bytes[2] === 0xf7

/** Error for bytes that are not valid CBOR, or that contain values not accepted by the API. */
export class CborError extends Error {
  override readonly name = 'CborError'
}

/**
 * Maximum nesting depth of arrays, maps and tags. This limit and the following two are those of
 * kube-apiserver.
 */
const DEPTH_MAX = 64
const ARRAY_ITEMS_MAX = 1024
const MAP_PAIRS_MAX = 1024

const UNSIGNED = 0
const NEGATIVE = 1
const BYTES = 2
const TEXT = 3
const ARRAY = 4
const MAP = 5
const TAG = 6

const cborTypes = [
  'positive integer',
  'negative integer',
  'byte string',
  'UTF-8 text string',
  'array',
  'map',
  'tag',
  'primitives',
] as const

/**
 * Values of the lower bits of an initial byte, called additional information. They mean that the
 * argument follows in 1, 2, 4 or 8 bytes, or that the length is indefinite.
 */
const ONE_BYTE = 24
const EIGHT_BYTES = 27
const INDEFINITE = 31
const BREAK = 0xff

const INT64_MAX = 2n ** 63n - 1n

/** Returns the JSON text of a value. Throws a `CborError` if the input is not accepted. */
export function cborToJson(bytes: Buffer): string {
  if (bytes.length === 0) throw new CborError('EOF')
  const reader = new Reader(bytes)
  const json = reader.value(0)
  const left = bytes.length - reader.at
  if (left > 0)
    throw new CborError(`cbor: ${left} bytes of extraneous data starting at index ${reader.at}`)
  return json
}

type Head = { readonly type: number; readonly info: number; readonly value: number | bigint }

class Reader {
  readonly #bytes: Buffer
  at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  value(depth: number): string {
    const head = this.#head()
    const { type } = head
    switch (type) {
      case UNSIGNED:
        return integer(BigInt(head.value), type)
      case NEGATIVE:
        return integer(-1n - BigInt(head.value), type)
      case BYTES:
      case TEXT:
        return printString(this.#text(head))
      case ARRAY:
        return this.#array(head, nested(depth))
      case MAP:
        return this.#map(head, nested(depth))
      case TAG:
        return this.#tagged(Number(head.value), nested(depth))
      default:
        return simple(head, this.#bytes, this.at)
    }
  }

  #head(): Head {
    const first = this.#byte()
    const type = first >> 5
    const info = first & 31
    if (first === BREAK) throw new CborError('cbor: unexpected "break" code')
    if (info < ONE_BYTE) return { type, info, value: info }
    if (info <= EIGHT_BYTES) return { type, info, value: this.#number(1 << (info - ONE_BYTE)) }
    if (info === INDEFINITE && type >= BYTES && type <= MAP) return { type, info, value: 0 }
    throw new CborError(`cbor: invalid additional information ${info} for type ${cborTypes[type]}`)
  }

  #byte(): number {
    const byte = this.#bytes[this.at++]
    if (byte === undefined) throw truncated()
    return byte
  }

  #number(size: number): number | bigint {
    const start = this.#pass(size)
    return size === 8 ? this.#bytes.readBigUInt64BE(start) : this.#bytes.readUIntBE(start, size)
  }

  /** Advances by `length` bytes. Returns the position before them. */
  #pass(length: number): number {
    const start = this.at
    if (length > this.#bytes.length - start) throw truncated()
    this.at += length
    return start
  }

  #text(head: Head): string {
    const bytes = this.#string(head)
    if (head.type === TEXT && !isUtf8(bytes)) throw new CborError('cbor: invalid UTF-8 string')
    return bytes.toString('utf8')
  }

  /** Reads a string. An indefinite-length string is a sequence of strings of the same type. */
  #string({ type, info, value }: Head): Buffer {
    if (info !== INDEFINITE) {
      const start = this.#pass(Number(value))
      return this.#bytes.subarray(start, this.at)
    }
    const chunks: Buffer[] = []
    while (!this.#atBreak()) {
      const chunk = this.#head()
      if (chunk.type !== type) {
        throw new CborError(
          `cbor: wrong element type ${cborTypes[chunk.type]} for indefinite-length ${cborTypes[type]}`,
        )
      }
      if (chunk.info === INDEFINITE) {
        throw new CborError(
          `cbor: indefinite-length ${cborTypes[type]} chunk is not definite-length`,
        )
      }
      chunks.push(this.#string(chunk))
    }
    return Buffer.concat(chunks)
  }

  #atBreak(): boolean {
    if (this.at >= this.#bytes.length) throw truncated()
    if (this.#bytes[this.at] !== BREAK) return false
    this.at++
    return true
  }

  /** Calls `read` for each item. The length can be definite or indefinite. */
  #each(
    { info, value }: Head,
    { max, what }: { readonly max: number; readonly what: string },
    read: () => void,
  ): void {
    const tooMany = (): CborError => new CborError(`cbor: exceeded max number of ${what}`)
    if (info !== INDEFINITE) {
      if (value > max) throw tooMany()
      for (let left = Number(value); left > 0; left--) read()
      return
    }
    for (let count = 0; !this.#atBreak(); count++) {
      if (count === max) throw tooMany()
      read()
    }
  }

  #array(head: Head, depth: number): string {
    let json = ''
    this.#each(
      head,
      { max: ARRAY_ITEMS_MAX, what: `elements ${ARRAY_ITEMS_MAX} for CBOR array` },
      () => {
        json += `${json === '' ? '' : ','}${this.value(depth)}`
      },
    )
    return `[${json}]`
  }

  #map(head: Head, depth: number): string {
    const keys = new Set<string>()
    let json = ''
    this.#each(
      head,
      { max: MAP_PAIRS_MAX, what: `key-value pairs ${MAP_PAIRS_MAX} for CBOR map` },
      () => {
        const key = this.#key()
        if (keys.has(key))
          throw new CborError(
            `cbor: found duplicate map key ${key} at map element index ${keys.size}`,
          )
        json += `${keys.size === 0 ? '' : ','}${key}:${this.value(depth)}`
        keys.add(key)
      },
    )
    return `{${json}}`
  }

  /** Reads the key of a map, and returns it as JSON. */
  #key(): string {
    const head = this.#head()
    if (head.type === BYTES || head.type === TEXT) return printString(this.#text(head))
    throw new CborError(
      `cbor: cannot unmarshal ${cborTypes[head.type]} into Go value of type string`,
    )
  }

  #tagged(tag: number, depth: number): string {
    switch (tag) {
      case 0:
        return printString(
          orRefuse(timeText(this.#expect(0, [BYTES, TEXT], (head) => this.#text(head)))),
        )
      case 1:
        return printString(orRefuse(epochText(Number(this.value(depth)))))
      case 2:
      case 3:
        throw unacceptable('tag', 'bignum')
      case 21:
      case 22:
      case 23: {
        const encoding = ({ 21: 'base64url', 22: 'base64', 23: 'hex' } as const)[tag]
        return printString(
          this.#expect(tag, [BYTES], (head) => this.#string(head).toString(encoding)),
        )
      }
      default:
        // A tag without a meaning here. Only its value counts.
        return this.value(depth)
    }
  }

  #expect(tag: number, types: readonly number[], read: (head: Head) => string): string {
    const head = this.#head()
    if (types.includes(head.type)) return read(head)
    throw new CborError(`cbor: wrong content type ${cborTypes[head.type]} of tag ${tag}`)
  }
}

const truncated = (): CborError => new CborError('unexpected EOF')

const unacceptable = (type: string, what: string): CborError =>
  new CborError(`cbor: data item of cbor type ${type} is not accepted by protocol: ${what}`)

function nested(depth: number): number {
  if (depth === DEPTH_MAX) throw new CborError(`cbor: exceeded max nested level ${DEPTH_MAX}`)
  return depth + 1
}

function integer(value: bigint, type: number): string {
  if (value <= INT64_MAX && value >= -INT64_MAX - 1n) return `${value}`
  throw new CborError(
    `cbor: cannot unmarshal ${cborTypes[type]} into Go value of type int64 (${value} overflows Go's int64)`,
  )
}

/** Returns a simple value or a float as JSON. `end` is the position after the bits of a float. */
function simple({ info, value }: Head, bytes: Buffer, end: number): string {
  switch (info) {
    case 20:
      return 'false'
    case 21:
      return 'true'
    case 22:
      return 'null'
    case 25:
      return float(halfOf(Number(value)))
    case 26:
      return float(bytes.readFloatBE(end - 4))
    case 27:
      return float(bytes.readDoubleBE(end - 8))
    default:
      throw unacceptable('primitives', `simple value ${value} is not recognized`)
  }
}

/** Decodes a half-precision float: a sign bit, 5 exponent bits and 10 fraction bits. */
function halfOf(bits: number): number {
  const exponent = (bits >> 10) & 31
  const fraction = bits & 0x3ff
  const size =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent === 31
        ? fraction === 0
          ? Infinity
          : NaN
        : (1 + fraction / 1024) * 2 ** (exponent - 15)
  return bits & 0x8000 ? -size : size
}

function float(value: number): string {
  if (Number.isNaN(value)) throw unacceptable('primitives', 'floating-point NaN')
  if (!Number.isFinite(value)) throw unacceptable('primitives', 'floating-point infinity')
  const text = Object.is(value, -0) ? '-0' : `${value}`
  return /[.e]/.test(text) ? text : `${text}.0`
}

function orRefuse(text: string | undefined): string {
  if (text === undefined) throw new CborError('cbor: cannot read the time in a tag')
  return text
}
