/**
 * Memory for the frames that a single watch sends, which are those of the objects that exist when
 * it begins. It is used again for each batch: with memory of their own the frames of ten thousand
 * objects are 20 MB, which the garbage collector is called for in the midst of a streaming list.
 */

/** Smaller batches are not worth a block: a kubelet's watch begins with some twenty objects. */
const BYTES_MIN = 64 << 10
/**
 * A batch is cut at 256 KB of JSON, which is no more in protobuf, or after one object that is
 * longer.
 */
const BYTES_MAX = 320 << 10

export class FrameMemory {
  #block: Buffer | undefined
  #used = 0
  /** What the frames of the batch took, in the block or not. */
  #taken = 0

  /** A new batch: the frames of the last one are not read any more. */
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

  /** There will be no more such frames. Those of the last batch stay as they are. */
  release(): void {
    this.#block = undefined
    this.#used = 0
    this.#taken = 0
  }
}
