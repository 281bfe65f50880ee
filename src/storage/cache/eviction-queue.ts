/**
 * Decides what to evict of entries that can be made or read again: framed events, other encodings
 * of objects, the recent past of resources. They stay within a budget of bytes and for 80 seconds.
 * The oldest is evicted first, but an entry that was used since it was added gets a second chance.
 */
import { Deque } from '../../lib/collections/deque.ts'

/**
 * Sweeps of the cache, one each 10 s, that an entry outlasts if there is room: 80 s, a little
 * longer than upstream keeps snapshots.
 */
export const SWEEPS_KEPT = 8
/**
 * Entries that one sweep evicts at most, which takes some milliseconds; the next sweeps evict the
 * rest.
 */
const SWEPT_MAX = 20_000

/** If all entries are in use, so many get a second chance before one is evicted. */
const SPARED_MAX = 1_000

/** Beyond this share of the budget nothing is made ahead of the first request for it. */
const FULL_SHARE = 0.9

/** `isUsed`: whether it was used since the queue last passed it. */
export type Evictable = { evict(): void; isUsed?: boolean }

type Entry = { readonly value: Evictable; readonly bytes: number; readonly sweep: number }

export class EvictionQueue {
  readonly #bytesMax: number
  readonly #entries = new Deque<Entry>()
  #bytes = 0
  /** Sweeps so far. */
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
   * Evicts what has been here for SWEEPS_KEPT sweeps, so that a burst does not cost memory for
   * good.
   */
  sweep(): void {
    const oldest = ++this.#sweeps - SWEEPS_KEPT
    for (let passed = 0; passed < SWEPT_MAX; passed++) {
      if ((this.#entries.at(0)?.sweep ?? oldest) >= oldest) return
      this.#passOldest()
    }
  }

  /** Evicts the oldest entry; one in use gets a second chance instead, if `maySpare`. */
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

/** Memory that an entry takes besides its bytes: in the queue, in a map, and for its slot. */
export const ENTRY_BYTES = 250
