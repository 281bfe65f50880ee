/**
 * Packs small, long-lived pieces of bytes side by side. A small Buffer is a view of one of Node's
 * pools of 64 KB and keeps the whole pool alive. Buffers that are created now and then, between
 * requests, could keep alive a pool each.
 */
const BLOCK_BYTES = 16 << 10

export class PackedBytes {
  #block = Buffer.alloc(0)
  #used = 0

  /** Returns a copy of the bytes, which keeps alive only the other pieces of its block. */
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
