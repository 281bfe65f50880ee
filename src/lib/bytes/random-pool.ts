/**
 * Random bytes for nonces and ids, made many at a time: a call for each takes as long as the
 * encryption of a small object, and leaves a buffer for the garbage collector. Keys do not come
 * from here, since they must not lie around in a pool.
 */
import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 8 << 10

export class RandomPool {
  readonly #fill: (bytes: Buffer) => void
  readonly #pool = Buffer.allocUnsafeSlow(POOL_BYTES)
  #at = POOL_BYTES
  /** By length. */
  readonly #next: Buffer[] = []

  constructor(fill: (bytes: Buffer) => void = (bytes) => void randomFillSync(bytes)) {
    this.#fill = fill
  }

  /**
   * So many bytes that nobody has had before. Borrowed: the next call for as many writes others
   * there.
   */
  next(count: number): Buffer {
    if (this.#at + count > POOL_BYTES) {
      this.#fill(this.#pool)
      this.#at = 0
    }
    const next = (this.#next[count] ??= Buffer.allocUnsafeSlow(count))
    const pool = this.#pool
    let from = this.#at
    // Node's own `copy` of so few bytes costs ten times as much.
    for (let at = 0; at < count; at++) next[at] = pool[from++] ?? 0
    this.#at = from
    return next
  }

  /** A copy of its own. */
  take(count: number): Buffer {
    return Buffer.from(this.next(count))
  }
}
