/**
 * The table of HPACK that the peer of one connection keeps of our fields (RFC 7541, 2.3.2): a field
 * that is in it is sent as one byte. Fields are added until it is full, and none is ever taken out:
 * what answers repeat is the same from the first to the last, and what has been added keeps its
 * place.
 */
import { ownText } from '../../lib/text/own-text.ts'
import { staticTable } from './static-table.ts'

/**
 * The default of SETTINGS_HEADER_TABLE_SIZE. A peer that has less gets no table, one that has more
 * this one.
 */
export const TABLE_BYTES = 4096
/** What an entry takes beside its text (RFC 7541, 4.1). */
const ENTRY_BYTES = 32
/** Of one name: a length or a date must not take the place of what stays the same. */
const VALUES_MAX = 4

type Entry = { readonly value: string; readonly place: number }

export class FieldTable {
  /** By the number of their name. */
  readonly #entries: (Entry[] | undefined)[] = []
  #count = 0
  #leftBytes = TABLE_BYTES
  /** Of those that the peer knows. */
  #sentCount = 0
  #sentLeftBytes = TABLE_BYTES

  /**
   * A new block begins. If the last one was not sent, its stream is over, and the peer knows
   * nothing of what it would have added.
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

  /** The index of a field, 0 if it has none. The last entry comes first. */
  indexOf(name: number, value: string): number {
    const entries = this.#entries[name]
    if (entries === undefined) return 0
    for (const entry of entries)
      if (entry.value === value) return staticTable.length + this.#count - entry.place
    return 0
  }

  /** Whether the field is added, as it must then be sent. */
  add(name: number, value: string, characters: number): boolean {
    const bytes = characters + ENTRY_BYTES
    const entries = (this.#entries[name] ??= [])
    if (bytes > this.#leftBytes || entries.length === VALUES_MAX) return false
    entries.push({ value: ownText(value), place: this.#count++ })
    this.#leftBytes -= bytes
    return true
  }
}
