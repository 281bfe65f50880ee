/**
 * A bounded map whose entries expire. When it is full, the entry that was not used for the longest time goes. Time is monotonic, so that a
 * clock that is set back does not prolong an entry.
 */
import type { Clock } from './clock.ts'

export class ExpiringCache<Value> {
  readonly #sizeMax: number
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /** The least recently used entry first. */
  readonly #entries = new Map<string, { readonly value: Value; readonly endMs: number }>()

  constructor(sizeMax: number, clock: Pick<Clock, 'monotonicMs'>) {
    this.#sizeMax = sizeMax
    this.#clock = clock
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    if (this.#clock.monotonicMs() >= entry.endMs) return undefined
    this.#entries.set(key, entry)
    return entry.value
  }

  /** `ttlMs` not above 0: nothing is kept. */
  set(key: string, value: Value, ttlMs: number): void {
    this.#entries.delete(key)
    if (ttlMs <= 0) return
    this.#entries.set(key, { value, endMs: this.#clock.monotonicMs() + ttlMs })
    if (this.#entries.size <= this.#sizeMax) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }
}
