/**
 * The HPACK table that the peer of one connection keeps of our fields (RFC 7541, 2.3.2). A field in
 * the table is sent as one byte. Fields are added until the table is full, and are never evicted:
 * the fields that responses repeat stay the same for the whole connection.
 */
import { ownText } from '../../lib/text/own-text.ts'
import { staticTable } from './static-table.ts'

/**
 * Default of SETTINGS_HEADER_TABLE_SIZE. A peer with a smaller table gets none. With a larger
 * table, only this much of it is used.
 */
export const TABLE_BYTES = 4096
/** Overhead of an entry besides its text (RFC 7541, 4.1). */
const ENTRY_BYTES = 32
/**
 * Maximum number of values for one name. Values that change, such as lengths and dates, must not
 * use up the room of values that repeat.
 */
const VALUES_MAX = 4

type Entry = { readonly value: string; readonly place: number }

export class FieldTable {
  /** Entries, indexed by the number of their name. */
  readonly #entries: (Entry[] | undefined)[] = []
  #count = 0
  #leftBytes = TABLE_BYTES
  /**
   * Count and free bytes as of the last block that was sent, which is the state that the peer
   * knows.
   */
  #sentCount = 0
  #sentLeftBytes = TABLE_BYTES

  /**
   * Begins a block. If the last block was not sent, its stream has ended, and the peer does not
   * know the entries that the block would have added.
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

  /** Returns the index of a field, or 0 if it has none. The newest entry has the lowest index. */
  indexOf(name: number, value: string): number {
    const entries = this.#entries[name]
    if (entries === undefined) return 0
    for (const entry of entries)
      if (entry.value === value) return staticTable.length + this.#count - entry.place
    return 0
  }

  /**
   * Adds a field if there is room for it. If this returns true, the field must be sent with
   * indexing.
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
