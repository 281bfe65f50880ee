/**
 * Packs small, long-lived pieces of bytes side by side. A small Buffer of Node's is a view of a
 * pool of 64 KB, which it keeps alive as a whole, and of those that are created now and then,
 * between requests, each has a pool of its own.
 */
const BLOCK_BYTES = 16 << 10

export class PackedBytes {
  #block = Buffer.alloc(0)
  #used = 0

  /** A copy that keeps alive nothing but its neighbours. */
  put(bytes: Buffer): Buffer {
    if (this.#used + bytes.length > this.#block.length) {
      this.#block = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, bytes.length))
      this.#used = 0
    }
    const start = this.#used
    this.#used += bytes.copy(this.#block, start)
    return this.#block.subarray(start, this.#used)
  }
}
