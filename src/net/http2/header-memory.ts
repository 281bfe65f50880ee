/**
 * Memory for headers that all connections share: a buffer for decoding Huffman codes, and a budget
 * for requests with large headers. The budget limits how much header data clients can send before
 * they are authenticated.
 */

/**
 * Requests whose headers are smaller than this do not use the budget. Usual headers have one or two
 * KB, or eight KB with a long token.
 */
export const LARGE_HEADER_BYTES: number = 16 * 1024
/**
 * Maximum total size of the large headers of all connections. Headers count from their arrival
 * until the response begins. There is room for 32 requests with headers of maximum size.
 */
const LARGE_HEADERS_BYTES_MAX = 32 * 1024 * 1024

export class HeaderMemory {
  /** The buffer for Huffman codes. Its contents are valid until the next string is decoded. */
  scratch: Buffer = Buffer.allocUnsafeSlow(1024)
  #heldBytes = 0
  readonly #heldBytesMax: number

  constructor(heldBytesMax: number = LARGE_HEADERS_BYTES_MAX) {
    this.#heldBytesMax = heldBytesMax
  }

  /** Replaces the buffer with one of at least this many bytes. */
  growScratch(bytes: number): Buffer {
    this.scratch = Buffer.allocUnsafeSlow(2 * bytes)
    return this.scratch
  }

  /**
   * Reserves memory, which must be released with `give`. Returns false if the budget is exhausted.
   */
  take(bytes: number): boolean {
    if (this.#heldBytes + bytes > this.#heldBytesMax) return false
    this.#heldBytes += bytes
    return true
  }

  give(bytes: number): void {
    this.#heldBytes -= bytes
  }
}
