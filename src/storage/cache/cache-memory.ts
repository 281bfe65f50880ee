/**
 * The memory that --cache-memory-max allows, shared by all caches of a process: each etcd has its
 * own cache (--etcd-servers-overrides).
 */

type Sharer = {
  readonly usedBytes: () => number
  /** Drops one resource. Returns false if there was none to drop. */
  readonly dropOne: () => boolean
}

export class CacheMemory {
  /** Maximum for all caches together. Infinity: no ceiling. */
  readonly bytesMax: number
  /** Number of caches that will share the memory. */
  readonly caches: number
  readonly #sharers: Sharer[] = []

  constructor(bytesMax: number, caches = 1) {
    this.bytesMax = bytesMax
    this.caches = caches
  }

  /**
   * Registers a cache. Returns the same functions for all caches together: the used bytes are
   * summed, and the cache that needs room drops its own resources first.
   */
  share(own: Sharer): Sharer {
    this.#sharers.push(own)
    return {
      usedBytes: () => this.#sharers.reduce((sum, { usedBytes }) => sum + usedBytes(), 0),
      dropOne: () =>
        own.dropOne() || this.#sharers.some((other) => other !== own && other.dropOne()),
    }
  }
}
