/**
 * Memory for frames that only one watch sends: the frames of the objects that exist when the watch
 * begins. The memory is reused for each batch of frames. If each frame had its own memory, the
 * frames of ten thousand objects would take 20 MB. Garbage collection would then start during a
 * streaming list.
 */

/**
 * Minimum size of a batch that gets a block of memory. Smaller batches do not need a block. For
 * example, a kubelet's watch begins with about twenty objects.
 */
const BYTES_MIN = 16 << 10
/**
 * Length of a block of memory. A batch ends after 64 KB of JSON, or after one larger object. The
 * protobuf form of a batch is not longer than its JSON.
 */
const BYTES_MAX = 80 << 10

export class FrameMemory {
  #block: Buffer | undefined
  #used = 0
  /** Total length of the frames in the batch, inside and outside of the block. */
  #taken = 0

  /** Begins a new batch. The frames of the previous batch must no longer be in use. */
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
   * Releases the memory, because no further frames follow. The frames of the last batch remain
   * valid.
   */
  release(): void {
    this.#block = undefined
    this.#used = 0
    this.#taken = 0
  }
}
