/**
 * Blocks of memory in which responses are collected on their way to the socket. A block stays in
 * the CPU's cache and is reused as soon as the socket has taken it. This is faster than new blocks,
 * one buffer, or a `writev` of views.
 */
export const BLOCK_BYTES = 64 * 1024
/** Maximum number of free blocks that are kept for later responses: 4 MB. */
const FREE_MAX = 64
/**
 * Number of blocks in use, 32 MB, above which a connection should use only one. Otherwise hundreds
 * of clients that read slowly would hold a quarter of a megabyte each.
 */
const PLENTY_MAX = 512

export class Blocks {
  readonly #free: Buffer[] = []
  #taken = 0

  /** Whether so much memory is in use that a connection should not take several blocks. */
  get areScarce(): boolean {
    return this.#taken > PLENTY_MAX
  }

  take(): Buffer {
    this.#taken++
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES)
  }

  /** Stops counting blocks that cannot be reused, because something may still read them. */
  drop(count: number): void {
    this.#taken -= count
  }

  /** Returns a block for reuse. Call it only when nothing reads the block anymore. */
  give(block: Buffer): void {
    this.#taken--
    if (this.#free.length < FREE_MAX) this.#free.push(block)
  }
}
