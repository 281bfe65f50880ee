/**
 * Evicts cached data that can be created or read again: event frames, other encodings of objects,
 * and the recent past of resources. The data is limited by a byte budget and kept for at most about
 * 80 seconds after its last use. The oldest entry is evicted first, but an entry that was used
 * since it was added gets a second chance.
 */
import { Deque } from '../../lib/collections/deque.ts'

/**
 * Number of periodic cleanups (sweeps) for which an entry is kept if there is room. There is one
 * sweep every 10 s, so an entry is kept for 80 s, a little longer than kube-apiserver keeps
 * snapshots.
 */
export const SWEEPS_KEPT = 8
/**
 * Maximum number of entries that one periodic cleanup evicts, which takes a few milliseconds.
 * Further entries are evicted by the next cleanups.
 */
const SWEPT_MAX = 20_000

/**
 * Maximum number of entries in a row that get a second chance. The next entry is evicted even if it
 * was used. The limit matters only if all entries are in use.
 */
const SPARED_MAX = 1_000

/**
 * If more than this share of the budget is in use, data is no longer created in advance, but only
 * when it is first requested.
 */
const FULL_SHARE = 0.9

/**
 * An entry of the queue. `isUsed` is true if the entry was used since the queue last considered it
 * for eviction.
 */
export type Evictable = { evict(): void; isUsed?: boolean }

type Entry = { readonly value: Evictable; readonly bytes: number; readonly sweep: number }

export class EvictionQueue {
  readonly #bytesMax: number
  readonly #entries = new Deque<Entry>()
  #bytes = 0
  /** Number of calls of `sweep` so far. */
  #sweeps = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get used(): { readonly bytes: number; readonly bytesMax: number } {
    return { bytes: this.#bytes, bytesMax: this.#bytesMax }
  }

  /** Whether new entries would evict earlier ones. */
  get isFull(): boolean {
    return this.#bytes >= this.#bytesMax * FULL_SHARE
  }

  add(value: Evictable, bytes: number): void {
    this.#entries.push({ value, bytes, sweep: this.#sweeps })
    this.#bytes += bytes
    for (let passed = 0; this.#bytes > this.#bytesMax; passed++)
      this.#passOldest(passed < SPARED_MAX)
  }

  /**
   * Evicts entries after SWEEPS_KEPT calls of this function, so that a burst does not take memory
   * permanently.
   */
  sweep(): void {
    const oldest = ++this.#sweeps - SWEEPS_KEPT
    for (let passed = 0; passed < SWEPT_MAX; passed++) {
      if ((this.#entries.at(0)?.sweep ?? oldest) >= oldest) return
      this.#passOldest()
    }
  }

  /**
   * Evicts the oldest entry. If the entry is in use and `maySpare` is true, the entry gets a second
   * chance instead.
   */
  #passOldest(maySpare = true): void {
    const entry = this.#entries.shift()
    if (maySpare && entry?.value.isUsed === true) {
      entry.value.isUsed = false
      this.#entries.push({ ...entry, sweep: this.#sweeps })
      return
    }
    this.#bytes -= entry?.bytes ?? this.#bytes
    entry?.value.evict()
  }
}

/**
 * Memory that an entry uses in addition to its bytes: its objects, and its share of the queue and
 * of a map.
 */
export const ENTRY_BYTES = 250
