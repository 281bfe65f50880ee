/**
 * Bytes that come in pieces and are wanted in one. They are copied together as they come: a list of the pieces would cost a
 * hundred bytes for each, and each would keep alive the chunk of the socket that it was cut from.
 */
const none: Buffer = Buffer.alloc(0)

export class GrowingBuffer {
  #bytes: Buffer = none
  #length = 0

  get length(): number {
    return this.#length
  }

  /** A first piece that fills its memory is kept as it is: most bodies come in one. The caller bounds the length. */
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

  /** What has come, and begins anew. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length)
    this.#bytes = none
    this.#length = 0
    return bytes
  }

  /** Twice as much as before, so that a byte is copied twice on the average. */
  #grow(length: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
