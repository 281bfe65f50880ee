/**
 * The memory that all connections share for headers, so that what anybody can send before
 * authentication is bounded for all of them together: a buffer to decode Huffman codes in, and a
 * budget for requests with large headers.
 */

/** Requests with less are not counted: clients send one or two KB, with long tokens eight. */
export const LARGE_HEADER_BYTES: number = 16 * 1024
/**
 * What all large headers may take together, from when they come until their requests are answered:
 * 32 of the largest.
 */
const LARGE_HEADERS_BYTES_MAX = 32 * 1024 * 1024

export class HeaderMemory {
  #scratch: Buffer = Buffer.allocUnsafeSlow(1024)
  #heldBytes = 0
  readonly #heldBytesMax: number

  constructor(heldBytesMax: number = LARGE_HEADERS_BYTES_MAX) {
    this.#heldBytesMax = heldBytesMax
  }

  /** A buffer of at least so many bytes, valid until the next call. */
  scratch(bytes: number): Buffer {
    if (bytes > this.#scratch.length) this.#scratch = Buffer.allocUnsafeSlow(2 * bytes)
    return this.#scratch
  }

  /** False: the memory is used up. What was taken must be given back. */
  take(bytes: number): boolean {
    if (this.#heldBytes + bytes > this.#heldBytesMax) return false
    this.#heldBytes += bytes
    return true
  }

  give(bytes: number): void {
    this.#heldBytes -= bytes
  }
}
