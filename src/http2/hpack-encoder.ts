/**
 * Encodes field blocks (RFC 7541) without a dynamic table: a block does not depend on those before it. Fields that answers repeat
 * are kept encoded, so that most of a block is copied.
 */
import { assert } from '../lib/assert.ts'
import { staticTable } from './static-table.ts'

type Value = string | readonly string[]

/** The encoded name, and the encoded field if its value came twice in a row. */
type Known = { readonly prefix: Buffer; value: string; bytes: Buffer | undefined }

/** Answers have few header names, and they are our own; beyond this number a name is encoded each time. */
const KNOWN_MAX = 64
/** Longer values are not likely to come again. */
const KNOWN_VALUE_BYTES_MAX = 128
const INTEGER_BYTES_MAX = 6
const PER_FIELD_BYTES_MAX = 2 * INTEGER_BYTES_MAX

/** A dynamic table size update to 0, which must be in the first block of a connection. */
const EMPTY_TABLE = 0x20

const nameNumbers: ReadonlyMap<string, number> = new Map(
  staticTable.map(([name], at): [string, number] => [name, at + 1]).toReversed(),
)
const statusNumbers: ReadonlyMap<string, number> = new Map(
  staticTable.flatMap(([name, value], at): [string, number][] => (name === ':status' ? [[value, at + 1]] : [])),
)

export class HpackEncoder {
  readonly #known = new Map<string, Known>()
  #block: Buffer = Buffer.allocUnsafeSlow(1024)
  #length = 0
  #writer: object | undefined

  /** The block that is being written, up to `length`. Valid until the next `begin`. */
  get block(): Buffer {
    return this.#block
  }

  get length(): number {
    return this.#length
  }

  /** `writer`: the connection whose block it is. The encoder is shared, so no other may begin a block before this one is sent. */
  begin(isFirst: boolean, writer?: object): void {
    this.#writer = writer
    this.#length = 0
    if (isFirst) this.#block[this.#length++] = EMPTY_TABLE
  }

  /** To be called before the block is sent. */
  assertWriter(writer: object): void {
    assert(this.#writer === writer, 'a field block is sent that another connection has begun')
  }

  status(status: number): void {
    const text = `${status}`
    const number = statusNumbers.get(text)
    if (number === undefined) return this.field(':status', text)
    this.#reserve(1)
    this.#block[this.#length++] = 0x80 | number
  }

  field(name: string, value: Value): void {
    if (typeof value === 'string') this.#field(name, value)
    else for (const one of value) this.#field(name, one)
  }

  #field(name: string, value: string): void {
    const known = this.#known.get(name)
    if (known === undefined) {
      const prefix = prefixOf(name)
      if (this.#known.size < KNOWN_MAX) this.#known.set(name, { prefix, value, bytes: undefined })
      this.#append(prefix)
      return this.#text(value)
    }
    const isAgain = known.value === value
    if (isAgain && known.bytes !== undefined) return this.#append(known.bytes)
    const start = this.#length
    this.#append(known.prefix)
    this.#text(value)
    known.value = value
    // The field is kept when a value comes for the second time: some values never come again.
    const isKept = isAgain && value.length <= KNOWN_VALUE_BYTES_MAX
    known.bytes = isKept ? Buffer.from(this.#block.subarray(start, this.#length)) : undefined
  }

  #append(bytes: Buffer): void {
    this.#reserve(bytes.length)
    this.#block.set(bytes, this.#length)
    this.#length += bytes.length
  }

  #text(value: string): void {
    this.#reserve(value.length + PER_FIELD_BYTES_MAX)
    this.#length = writeText(this.#block, this.#length, value)
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#block.length) return
    const larger = Buffer.allocUnsafeSlow(needed * 2)
    this.#block.copy(larger, 0, 0, this.#length)
    this.#block = larger
  }
}

/** A literal field without indexing, up to its value. */
function prefixOf(name: string): Buffer {
  const bytes = Buffer.alloc(name.length + PER_FIELD_BYTES_MAX)
  const number = nameNumbers.get(name)
  if (number !== undefined) return bytes.subarray(0, writeInteger(bytes, 0, { value: number, prefix: 0x0f }))
  return bytes.subarray(0, writeText(bytes, 1, name))
}

const LINE_FEED_OR_LESS = 0x1f
const REPLACEMENT = 0x20

/** Writes one byte for each character; what HTTP does not allow in a value becomes a space. */
function writeText(into: Buffer, at: number, text: string): number {
  let next = writeInteger(into, at, { value: text.length, prefix: 0x7f })
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    into[next++] = code <= LINE_FEED_OR_LESS || code === 0x7f || code > 0xff ? REPLACEMENT : code
  }
  return next
}

function writeInteger(into: Buffer, at: number, { value, prefix }: { value: number; prefix: number }): number {
  if (value < prefix) {
    into[at] = value
    return at + 1
  }
  into[at] = prefix
  let next = at + 1
  let rest = value - prefix
  for (; rest >= 0x80; rest >>>= 7) into[next++] = (rest & 0x7f) | 0x80
  into[next++] = rest
  return next
}
