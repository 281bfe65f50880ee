/**
 * A cache limited by number, weight and time. When it is full, the least recently used entries are
 * evicted. Expired entries are dropped when they are read or when other entries are added;
 * IdleCache drops them with a timer instead. The clock is monotonic, so that setting the system
 * clock back does not extend the lifetime of an entry. A key may be a substring of a long string:
 * it is copied, so that it does not keep the long string in memory.
 */
import type { Clock } from '../time/clock.ts'
import { ownText } from '../text/own-text.ts'

export type TtlCacheLimits = {
  /** Maximum number of entries. */
  readonly sizeMax: number
  /** Maximum weight of all entries together. Absent if the weight of entries is not limited. */
  readonly weightMax?: number
}

type Entry<Value> = {
  readonly key: string
  readonly value: Value
  readonly endMs: number
  readonly weight: number
}

export class TtlCache<Value> {
  readonly #limits: TtlCacheLimits
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /** Entries, with the least recently used entry first. */
  readonly #entries = new Map<string, Entry<Value>>()
  #weight = 0

  constructor(limits: TtlCacheLimits, clock: Pick<Clock, 'monotonicMs'>) {
    this.#limits = limits
    this.#clock = clock
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (this.#clock.monotonicMs() >= entry.endMs) {
      this.delete(key)
      return undefined
    }
    this.#entries.delete(key)
    this.#entries.set(entry.key, entry)
    return entry.value
  }

  /** Stores an entry. If `ttlMs` is not positive, only removes the existing entry. */
  set(
    key: string,
    value: Value,
    { ttlMs, weight = 0 }: { readonly ttlMs: number; readonly weight?: number },
  ): void {
    this.delete(key)
    if (ttlMs <= 0) return
    const nowMs = this.#clock.monotonicMs()
    const own = ownText(key)
    this.#entries.set(own, { key: own, value, endMs: nowMs + ttlMs, weight })
    this.#weight += weight
    const { sizeMax, weightMax = Infinity } = this.#limits
    // Entries are in the order of their last use. Drops the oldest entries while they are expired
    // or a limit is exceeded.
    for (const [oldest, { endMs }] of this.#entries) {
      if (endMs > nowMs && this.#entries.size <= sizeMax && this.#weight <= weightMax) return
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }
}
