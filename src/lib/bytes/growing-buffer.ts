/**
 * Collects chunks into one buffer. Chunks are copied as they arrive: a list of chunks would cost a
 * hundred bytes for each, and each chunk would keep alive the socket's buffer that it is a view of.
 */
const none: Buffer = Buffer.alloc(0)

export class GrowingBuffer {
  #bytes: Buffer = none
  #length = 0

  get length(): number {
    return this.#length
  }

  /**
   * Appends a chunk. A first chunk that uses at least half of its memory is kept without a copy,
   * because most bodies arrive in one chunk. The caller limits the length.
   */
  append(piece: Buffer): void {
    if (piece.length === 0) return
    const length = this.#length + piece.length
    if (this.#length === 0 && piece.length * 2 >= piece.buffer.byteLength) this.#bytes = piece
    else {
      if (length > this.#bytes.length) this.#grow(length)
      piece.copy(this.#bytes, this.#length)
    }
    this.#length = length
  }

  /** Returns the collected bytes and starts again with none. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length)
    this.#bytes = none
    this.#length = 0
    return bytes
  }

  /**
   * Doubles the size, so that a byte is copied twice on average. Small buffers come from Node's
   * pool, which is faster than allocating separate memory.
   */
  #grow(length: number): void {
    const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
