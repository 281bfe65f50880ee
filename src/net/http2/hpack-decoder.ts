/**
 * Decodes field blocks (RFC 7541). Each connection has its own decoder, because field blocks refer
 * to the dynamic table, which earlier blocks of the connection have filled.
 */
import { createField, type HeaderField } from './field.ts'
import type { HeaderMemory } from './header-memory.ts'
import { decodeHuffman } from './huffman.ts'
import { byte } from '../../lib/bytes/big-endian.ts'
import { CODE, ConnectionError } from './protocol.ts'
import { staticTable } from './static-table.ts'

const staticFields: readonly HeaderField[] = staticTable.map(([name, value]) =>
  createField(name, value),
)

/**
 * HPACK's default size of the dynamic table. The server never announces another value, so the
 * dynamic table of a client cannot be larger.
 */
const TABLE_BYTES_MAX = 4096
/**
 * How many times longer a decoded string can be than its Huffman code. The shortest codes have 5
 * bits for a character of 8 bits.
 */
const EXPANSION_MAX = 8 / 5
/** Maximum number of bytes in an encoded integer. */
const INTEGER_BYTES_MAX = 5

/** Limits for the fields of one block. */
export type HeaderLimits = { readonly headerBytesMax: number; readonly headersMax: number }

const none = Buffer.alloc(0)

export class HpackDecoder {
  /** The dynamic table. The newest entry comes last. */
  readonly #table: HeaderField[] = []
  #tableBytes = 0
  #tableBytesMax = TABLE_BYTES_MAX
  readonly #memory: HeaderMemory
  #block: Buffer = none
  #at = 0

  constructor(memory: HeaderMemory) {
    this.#memory = memory
  }

  /**
   * Appends the fields of a block to `into`. Returns their size as defined for
   * SETTINGS_MAX_HEADER_LIST_SIZE. If the fields exceed the limits, omits the rest and returns -1.
   * Throws a ConnectionError for an invalid block, because the following blocks cannot be decoded
   * without it.
   */
  decode(block: Buffer, into: HeaderField[], { headerBytesMax, headersMax }: HeaderLimits): number {
    this.#block = block
    this.#at = 0
    let isFirst = true
    let bytes = 0
    let isWithin = true
    while (this.#at < block.length) {
      const first = byte(block, this.#at)
      if (first >= 0x20 && first < 0x40) {
        if (!isFirst)
          throw compressionError('a dynamic table size update is not at the start of a block')
        this.#resize(this.#integer(0x1f))
        continue
      }
      isFirst = false
      const field = this.#field(first)
      bytes += field.size
      isWithin &&= bytes <= headerBytesMax && into.length < headersMax
      if (isWithin) into.push(field)
    }
    this.#block = none
    return isWithin ? bytes : -1
  }

  #field(first: number): HeaderField {
    if (first >= 0x80) return this.#lookUp(this.#integer(0x7f))
    return first >= 0x40 ? this.#remember(this.#literal(0x3f)) : this.#literal(0x0f)
  }

  #lookUp(index: number): HeaderField {
    const field =
      index <= staticFields.length
        ? staticFields[index - 1]
        : this.#table[this.#table.length - (index - staticFields.length)]
    if (field === undefined)
      throw compressionError('a field refers to an entry that is not in the table')
    return field
  }

  #literal(prefix: number): HeaderField {
    const index = this.#integer(prefix)
    const name = index === 0 ? this.#text() : this.#lookUp(index).name
    return createField(name, this.#text())
  }

  #remember(field: HeaderField): HeaderField {
    this.#table.push(field)
    this.#tableBytes += field.size
    this.#evict()
    return field
  }

  #resize(bytes: number): void {
    if (bytes > TABLE_BYTES_MAX)
      throw compressionError('a dynamic table size update is beyond SETTINGS_HEADER_TABLE_SIZE')
    this.#tableBytesMax = bytes
    this.#evict()
  }

  #evict(): void {
    let gone = 0
    while (this.#tableBytes > this.#tableBytesMax)
      this.#tableBytes -= this.#table[gone++]?.size ?? 0
    if (gone > 0) this.#table.splice(0, gone)
  }

  #text(): string {
    const block = this.#block
    const isCoded = byte(block, this.#at) >= 0x80
    const length = this.#integer(0x7f)
    const start = this.#at
    const end = start + length
    if (end > block.length) throw compressionError('a header is longer than its block')
    this.#at = end
    // Converts each byte to one character, as node:http does for headers.
    if (!isCoded) return block.toString('latin1', start, end)
    const bytesMax = Math.ceil(length * EXPANSION_MAX)
    const known = this.#memory.scratch
    const scratch = bytesMax > known.length ? this.#memory.growScratch(bytesMax) : known
    const written = decodeHuffman(block, { start, end }, scratch)
    if (written === -1) throw compressionError('a header is not a valid Huffman code')
    return scratch.toString('latin1', 0, written)
  }

  #integer(prefix: number): number {
    const block = this.#block
    if (this.#at >= block.length) throw compressionError('a block of headers ends too early')
    const first = byte(block, this.#at++) & prefix
    if (first < prefix) return first
    let value = prefix
    for (let bytes = 0; bytes < INTEGER_BYTES_MAX; bytes++) {
      if (this.#at >= block.length) throw compressionError('a block of headers ends too early')
      const next = byte(block, this.#at++)
      value += (next & 0x7f) * 2 ** (7 * bytes)
      if (next < 0x80) return value
    }
    throw compressionError('a number in a header is too large')
  }
}

const compressionError = (message: string): ConnectionError =>
  new ConnectionError(CODE.COMPRESSION_ERROR, message)
