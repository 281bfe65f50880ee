/**
 * Decoded objects are several times the size of their bytes, so only those in demand are kept,
 * within a budget for the whole cache.
 */
import { Deque } from '../../lib/collections/deque.ts'
import type { Item } from './item.ts'

/** A decoded object takes about this much more memory than its JSON. */
const DECODED_FACTOR = 4
/** The factor for large objects: one with many small values takes up to 40 times its JSON. */
const LARGE_DECODED_FACTOR = 40
/**
 * A large object counts as this part of the budget at most, so that small ones that are in demand
 * stay.
 */
const ENTRY_SHARE_MAX = 3 / 4

type Entry = { readonly item: Item; readonly bytes: number }

/** First in, first out, but an object that was used since it was added gets a second chance. */
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
   * Drops the decoded objects that nobody has used since the last sweep, and those of items that
   * are no longer current.
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
