/**
 * Memory for the frames that a single watch sends, which are those of the objects that exist when
 * it begins. It is reused for each batch. With memory of their own, the frames of ten thousand
 * objects would take 20 MB, and start the garbage collector in the middle of a streaming list.
 */

/**
 * Smaller batches do not need a block. A kubelet's watch, for example, begins with some twenty
 * objects.
 */
const BYTES_MIN = 64 << 10
/**
 * Length of a block. A batch ends at 256 KB of JSON, whose protobuf is not longer, or after one
 * longer object.
 */
const BYTES_MAX = 320 << 10

export class FrameMemory {
  #block: Buffer | undefined
  #used = 0
  /** Total length of the batch's frames, in the block or outside of it. */
  #taken = 0

  /** Begins a new batch. The frames of the last one are not read any more. */
  begin(): void {
    const wanted = Math.min(this.#taken, BYTES_MAX)
    if (wanted >= BYTES_MIN && (this.#block?.length ?? 0) < wanted)
      this.#block = Buffer.allocUnsafeSlow(BYTES_MAX)
    this.#used = 0
    this.#taken = 0
  }

  take(bytes: number): Buffer {
    this.#taken += bytes
    const start = this.#used
    if (this.#block === undefined || start + bytes > this.#block.length)
      return Buffer.allocUnsafe(bytes)
    this.#used += bytes
    return this.#block.subarray(start, start + bytes)
  }

  /**
   * Releases the memory, because no more such frames follow. The frames of the last batch stay as
   * they are.
   */
  release(): void {
    this.#block = undefined
    this.#used = 0
    this.#taken = 0
  }
}
