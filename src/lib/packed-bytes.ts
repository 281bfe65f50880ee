/**
 * Small pieces of bytes that stay for long, side by side. A small Buffer of Node's is a part of one of 64 KB, all of
 * which it holds on to, and those that are made now and then, between requests, each have one of their own.
 */
const BLOCK_BYTES = 16 << 10

export class PackedBytes {
  #block = Buffer.alloc(0)
  #used = 0

  /** A copy that holds on to nothing but its neighbours. */
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
