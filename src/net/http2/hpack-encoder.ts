/**
 * Encodes field blocks (RFC 7541). If the connection has a dynamic table, repeated fields are sent
 * as indexes into it. Otherwise the encoder caches encoded fields, so that most of a block is
 * copied.
 */
import { ownText } from '../../lib/text/own-text.ts'
import { staticTable } from './static-table.ts'

type Value = string | readonly string[]

/**
 * The cached encoding of a header. `prefix` is the encoded name. `bytes` is the whole encoded
 * field; it is set when the same value occurs twice in a row. `misses` counts how many times in a
 * row the value changed.
 */
type CachedField = {
  readonly number: number
  readonly prefix: Buffer
  value: string
  bytes: Buffer | undefined
  misses: number
}

/**
 * Maximum number of cached names. The server uses only a few header names in its responses. Names
 * beyond this number are encoded each time.
 */
const KNOWN_MAX = 64
/** Maximum length of a cached value. Longer values are unlikely to repeat. */
const KNOWN_VALUE_BYTES_MAX = 128
/**
 * If the value of a name changes this many times in a row, as that of `audit-id` does, it is
 * assumed to change every time. Its values are then compared only now and then, because a
 * comparison takes as long as writing the value.
 */
const MISSES_MAX = 1000
const COMPARED_EVERY = 64
const INTEGER_BYTES_MAX = 6
const PER_FIELD_BYTES_MAX = 2 * INTEGER_BYTES_MAX

/**
 * This byte sets the size of the dynamic table to 0. It may be sent only at the start of the first
 * header block of a connection.
 */
const EMPTY_TABLE = 0x20

const nameNumbers: ReadonlyMap<string, number> = new Map(
  staticTable.map(([name], at): [string, number] => [name, at + 1]).toReversed(),
)
const statusNumbers: ReadonlyMap<string, number> = new Map(
  staticTable.flatMap(([name, value], at): [string, number][] =>
    name === ':status' ? [[value, at + 1]] : [],
  ),
)

export class HpackEncoder {
  readonly #known = new Map<string, CachedField>()
  #block: Buffer = Buffer.allocUnsafeSlow(1024)
  #length = 0
  #writer: object | undefined
  #table: FieldTable | undefined

  /**
   * The buffer that contains the current block, up to `length`. The next call of `begin` overwrites
   * it.
   */
  get block(): Buffer {
    return this.#block
  }

  get length(): number {
    return this.#length
  }

  /** The connection for which the current block is encoded. */
  get writer(): object | undefined {
    return this.#writer
  }

  /**
   * Begins a block. `writer` is the connection that sends the block. All connections share the
   * encoder, so this block must be sent before another one begins. `table` is the dynamic table of
   * the connection. If it is undefined, the first block announces a table of size 0.
   */
  begin(isFirst: boolean, writer?: object, table?: FieldTable): void {
    this.#writer = writer
    this.#table = table
    table?.begin()
    this.#length = 0
    if (isFirst && table === undefined) this.#block[this.#length++] = EMPTY_TABLE
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
    if (known === undefined) return this.#newField(name, value)
    const index = this.#table?.indexOf(known.number, value) ?? 0
    if (index > 0) return this.#indexed(index)
    const isCompared = known.misses < MISSES_MAX || known.misses % COMPARED_EVERY === 0
    if (!isCompared || known.value !== value) {
      known.misses++
      known.value = value
      known.bytes = undefined
      this.#append(known.prefix)
      return this.#text(value)
    }
    known.misses = 0
    // Cache the value only now, when it occurs for the second time in a row. Some values never
    // occur again.
    const isKept = value.length <= KNOWN_VALUE_BYTES_MAX
    if (isKept && this.#table?.add(known.number, value, name.length + value.length) === true) {
      return this.#added(name, value)
    }
    if (known.bytes !== undefined) return this.#append(known.bytes)
    const start = this.#length
    this.#append(known.prefix)
    this.#text(value)
    if (isKept) known.bytes = Buffer.from(this.#block.subarray(start, this.#length))
  }

  #newField(name: string, value: string): void {
    const prefix = prefixOf(name)
    const number = this.#known.size
    if (number < KNOWN_MAX)
      this.#known.set(name, { number, prefix, value, bytes: undefined, misses: 0 })
    this.#append(prefix)
    this.#text(value)
  }

  /** Writes the index of a field that is in the static or the dynamic table. */
  #indexed(index: number): void {
    this.#reserve(INTEGER_BYTES_MAX)
    const at = this.#length
    this.#length = writeInteger(this.#block, at, { value: index, prefix: 0x7f })
    this.#block[at] = 0x80 | (this.#block[at] ?? 0)
  }

  /** Writes a field in the form that makes the peer add it to its table. */
  #added(name: string, value: string): void {
    const number = nameNumbers.get(name) ?? 0
    this.#reserve(1)
    // The names of the static table have indexes that fit into six bits.
    this.#block[this.#length++] = 0x40 | number
    if (number === 0) this.#text(name)
    this.#text(value)
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

/**
 * Maximum size of the dynamic table, which is the default of SETTINGS_HEADER_TABLE_SIZE. If a peer
 * announces a smaller size, no table is used.
 */
export const TABLE_BYTES = 4096
/** Overhead of an entry in addition to its text (RFC 7541, 4.1). */
const ENTRY_BYTES = 32
/**
 * Maximum number of values in the table for one name. Without this limit, values that change, such
 * as lengths and dates, would fill the table and leave no room for values that repeat.
 */
const VALUES_MAX = 4

type TableEntry = { readonly value: string; readonly place: number }

/**
 * The dynamic table of a connection, which both sides build from the fields that this side has sent
 * (RFC 7541, 2.3.2). A field in the table is sent as one byte. Fields are added until the table is
 * full. They are never evicted, because the same fields repeat as long as the connection exists.
 */
export class FieldTable {
  /** The entries of the table, indexed by the number that stands for their name. */
  readonly #entries: (TableEntry[] | undefined)[] = []
  #count = 0
  #leftBytes = TABLE_BYTES
  /**
   * Number of entries and free bytes in the peer's table: the state after the last block that was
   * sent.
   */
  #sentCount = 0
  #sentLeftBytes = TABLE_BYTES

  /**
   * Begins a block. If the stream of the previous block ended before the block was sent, the
   * entries that it added are removed.
   */
  begin(): void {
    if (this.#count === this.#sentCount) return
    for (const entries of this.#entries) {
      while ((entries?.at(-1)?.place ?? -1) >= this.#sentCount) entries?.pop()
    }
    this.#count = this.#sentCount
    this.#leftBytes = this.#sentLeftBytes
  }

  sent(): void {
    this.#sentCount = this.#count
    this.#sentLeftBytes = this.#leftBytes
  }

  /**
   * Returns the index of a field, or 0 if the table lacks it. The newest entry has the lowest
   * index.
   */
  indexOf(name: number, value: string): number {
    const entries = this.#entries[name]
    if (entries === undefined) return 0
    for (const entry of entries)
      if (entry.value === value) return staticTable.length + this.#count - entry.place
    return 0
  }

  /**
   * Adds a field if there is room for it. If this method returns true, the field must be sent with
   * incremental indexing.
   */
  add(name: number, value: string, characters: number): boolean {
    const bytes = characters + ENTRY_BYTES
    const entries = (this.#entries[name] ??= [])
    if (bytes > this.#leftBytes || entries.length === VALUES_MAX) return false
    entries.push({ value: ownText(value), place: this.#count++ })
    this.#leftBytes -= bytes
    return true
  }
}

/**
 * Encodes the beginning of a literal field without indexing (RFC 7541, section 6.2.2): everything
 * except the value.
 */
function prefixOf(name: string): Buffer {
  const bytes = Buffer.alloc(name.length + PER_FIELD_BYTES_MAX)
  const number = nameNumbers.get(name)
  if (number !== undefined)
    return bytes.subarray(0, writeInteger(bytes, 0, { value: number, prefix: 0x0f }))
  return bytes.subarray(0, writeText(bytes, 1, name))
}

const LINE_FEED_OR_LESS = 0x1f
const REPLACEMENT = 0x20

/**
 * Writes one byte for each character. Characters that HTTP does not allow in a value become spaces.
 */
function writeText(into: Buffer, at: number, text: string): number {
  let next = writeInteger(into, at, { value: text.length, prefix: 0x7f })
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    into[next++] = code <= LINE_FEED_OR_LESS || code === 0x7f || code > 0xff ? REPLACEMENT : code
  }
  return next
}

function writeInteger(
  into: Buffer,
  at: number,
  { value, prefix }: { value: number; prefix: number },
): number {
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
