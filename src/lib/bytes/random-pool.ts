/**
 * Random bytes for nonces and IDs. They are generated in large batches, because generating a single
 * nonce takes as long as encrypting a small object and allocates a buffer. Do not use these bytes
 * as keys: a copy of each key would stay in memory.
 */
import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 8 << 10

export class RandomPool {
  readonly #fill: (bytes: Buffer) => void
  readonly #pool = Buffer.allocUnsafeSlow(POOL_BYTES)
  #at = POOL_BYTES
  /** The buffers that `next` reuses, by length. */
  readonly #next: Buffer[] = []

  constructor(fill: (bytes: Buffer) => void = (bytes) => void randomFillSync(bytes)) {
    this.#fill = fill
  }

  /**
   * Returns random bytes that were not returned before. The caller must not retain the buffer: the
   * next call with the same count overwrites it.
   */
  next(count: number): Buffer {
    if (this.#at + count > POOL_BYTES) {
      this.#fill(this.#pool)
      this.#at = 0
    }
    const next = (this.#next[count] ??= Buffer.allocUnsafeSlow(count))
    const pool = this.#pool
    let from = this.#at
    // A loop is faster than Node's `copy` for a few bytes.
    for (let at = 0; at < count; at++) next[at] = pool[from++] ?? 0
    this.#at = from
    return next
  }

  /** Returns random bytes that were not returned before, as a copy that stays valid. */
  take(count: number): Buffer {
    return Buffer.from(this.next(count))
  }
}
