/**
 * Collects chunks into one buffer. Chunks are copied into the buffer when they arrive. If they were
 * kept in a list instead, each chunk would have an overhead of a hundred bytes, and would retain
 * the socket's buffer of which it is a view.
 */
const none: Buffer = Buffer.alloc(0)

export class GrowingBuffer {
  #bytes: Buffer = none
  #length = 0

  get length(): number {
    return this.#length
  }

  /**
   * Appends a chunk. Most bodies arrive in one chunk, so the first chunk is kept without a copy if
   * it uses at least half of its underlying memory. The buffer has no size limit: the caller must
   * limit the size of the body.
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

  /** Returns the collected bytes and empties the buffer. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length)
    this.#bytes = none
    this.#length = 0
    return bytes
  }

  /**
   * Doubles the size, so that each byte is copied twice on average. Small buffers come from Node's
   * pool, which is faster than allocating memory for each of them.
   */
  #grow(length: number): void {
    const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
