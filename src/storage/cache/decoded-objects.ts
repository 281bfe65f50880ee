/**
 * Keeps the decoded form of objects that are in demand, within a budget for the whole cache. A
 * decoded object is several times as large as its bytes.
 */
import { Deque } from '../../lib/collections/deque.ts'
import type { Item } from './item.ts'

/** Estimated ratio of a decoded object's memory to its JSON. */
const DECODED_FACTOR = 4
/** The ratio for large objects. An object with many small values takes up to 40 times its JSON. */
const LARGE_DECODED_FACTOR = 40
/**
 * Maximum share of the budget that one object counts as, so that small objects in demand stay
 * besides a large one.
 */
const ENTRY_SHARE_MAX = 3 / 4

type Entry = { readonly item: Item; readonly bytes: number }

/** A FIFO queue that gives a second chance to objects that were used since they were added. */
export class DecodedObjects {
  readonly #bytesMax: number
  readonly #entries = new Deque<Entry>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  add(item: Item): void {
    const factor = item.isLarge ? LARGE_DECODED_FACTOR : DECODED_FACTOR
    const bytes = Math.min(item.length * factor, this.#bytesMax * ENTRY_SHARE_MAX)
    // The newest object is always kept: its reader is about to use it.
    while (this.#bytes + bytes > this.#bytesMax && this.#entries.length > 0) this.#dropOne()
    this.#entries.push({ item, bytes })
    this.#bytes += bytes
  }

  /**
   * Drops decoded objects that were not used since the last sweep, and those of items that are no
   * longer current.
   */
  sweep(): void {
    for (let left = this.#entries.length; left > 0; left--) {
      const entry = this.#entries.shift()
      if (entry === undefined) return
      const { item } = entry
      if (item.isInDemand && !item.isReleased) this.#entries.push(entry)
      else this.#drop(entry)
      item.isInDemand = false
    }
  }

  #dropOne(): void {
    for (let rounds = this.#entries.length; rounds > 0; rounds--) {
      const entry = this.#entries.shift()
      if (entry === undefined) break
      if (entry.item.isInDemand && rounds > 1) {
        entry.item.isInDemand = false
        this.#entries.push(entry)
        continue
      }
      return this.#drop(entry)
    }
  }

  #drop({ item, bytes }: Entry): void {
    item.decoded = undefined
    this.#bytes -= bytes
  }
}
