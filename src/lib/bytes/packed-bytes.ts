/**
 * Packs small, long-lived byte arrays into shared blocks. A small Buffer is a view of a pool of 64
 * KB, and keeps the whole pool in memory. A program that creates such Buffers now and then could
 * keep one pool for each of them.
 */
const BLOCK_BYTES = 16 << 10

export class PackedBytes {
  #block = Buffer.alloc(0)
  #used = 0

  /**
   * Returns a copy of the bytes in the current block. While the copy is in use, the whole block
   * stays in memory, but nothing else does.
   */
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
