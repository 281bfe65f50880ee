/**
 * Blocks of memory in which responses are collected before they are written to the socket. A block
 * stays in the CPU cache and is reused as soon as it is written. This is faster than allocating new
 * blocks, using a single buffer, or calling `writev` with many views.
 */
export const BLOCK_BYTES = 64 * 1024
/** Maximum number of free blocks that are kept for later responses (4 MB). */
const FREE_MAX = 64
/**
 * If more than this number of blocks (32 MB) are in use, each connection should take only one.
 * Otherwise each of several hundred slow clients would occupy four blocks (256 KB).
 */
const PLENTY_MAX = 512

export class Blocks {
  readonly #free: Buffer[] = []
  #taken = 0

  /** Whether blocks are scarce. If they are, a connection should take only one block. */
  get areScarce(): boolean {
    return this.#taken > PLENTY_MAX
  }

  take(): Buffer {
    this.#taken++
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES)
  }

  /**
   * Records that blocks are no longer in use, without returning them to the pool. This is necessary
   * for blocks that other code may still read.
   */
  drop(count: number): void {
    this.#taken -= count
  }

  /** Returns a block to the pool. Call this only when no other code reads the block any more. */
  give(block: Buffer): void {
    this.#taken--
    if (this.#free.length < FREE_MAX) this.#free.push(block)
  }
}
