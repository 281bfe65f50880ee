/** Random bytes, made many at a time: a call of randomBytes costs as much for a few as for thousands, and leaves a buffer of its own for the garbage collector. */

/** Ids of 256 traces. */
const POOL_BYTES = 4096

export class RandomPool {
  readonly #fill: (bytes: Buffer) => void
  readonly #bytes = Buffer.allocUnsafeSlow(POOL_BYTES)
  #at = POOL_BYTES

  constructor(fill: (bytes: Buffer) => void) {
    this.#fill = fill
  }

  /** So many bytes that nobody has had before, valid until the next call: `at` is where they are in `bytes`. */
  next(count: number): number {
    if (this.#at + count > POOL_BYTES) {
      this.#fill(this.#bytes)
      this.#at = 0
    }
    const at = this.#at
    this.#at += count
    return at
  }

  get bytes(): Buffer {
    return this.#bytes
  }

  /** A copy of its own. */
  take(count: number): Buffer {
    const at = this.next(count)
    return Buffer.from(this.#bytes.subarray(at, at + count))
  }
}
