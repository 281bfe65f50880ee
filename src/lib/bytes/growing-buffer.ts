/**
 * Collects chunks into one buffer. They are copied as they arrive: a list of chunks would cost a
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
   * A first chunk that uses at least half of its memory is kept without a copy: most bodies arrive
   * in one chunk. The caller bounds the length.
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

  /** Returns what was collected, and starts again. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length)
    this.#bytes = none
    this.#length = 0
    return bytes
  }

  /**
   * The size doubles, so that on the average a byte is copied twice. Up to 4 KB come from Node's
   * pool of 8 KB blocks: memory of its own costs a microsecond more.
   */
  #grow(length: number): void {
    const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
