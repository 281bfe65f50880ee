/**
 * Retains the decoded form of frequently used objects, within one budget for the whole cache. A
 * decoded object takes several times the memory of its bytes.
 */
import { Deque } from '../../lib/collections/deque.ts'
import type { Item } from './item.ts'

/** Estimated ratio between the memory of a decoded object and the size of its JSON. */
const DECODED_FACTOR = 4
/**
 * The ratio for large objects. An object with many small values takes up to 40 times the size of
 * its JSON.
 */
const LARGE_DECODED_FACTOR = 40
/**
 * Maximum share of the budget that is charged for one object, so that a large object does not evict
 * all small ones.
 */
const ENTRY_SHARE_MAX = 3 / 4

type Entry = { readonly item: Item; readonly bytes: number }

/**
 * A FIFO queue of decoded objects. An object that was used after it was added gets a second chance.
 */
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
    // The newest object is never evicted, because its reader is about to use it.
    while (this.#bytes + bytes > this.#bytesMax && this.#entries.length > 0) this.#dropOne()
    this.#entries.push({ item, bytes })
    this.#bytes += bytes
  }

  /**
   * Drops decoded objects that were not used since the last call, and the decoded objects of
   * outdated items.
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
