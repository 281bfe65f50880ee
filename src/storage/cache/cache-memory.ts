/**
 * The memory limit of --cache-memory-max. All caches of a process share it: with
 * --etcd-servers-overrides, each etcd has its own cache.
 */

type Sharer = {
  readonly usedBytes: () => number
  /** Whether `usedBytes` is about to decrease, because dropped objects are being released. */
  readonly isReleasing: () => boolean
  /** Drops one resource from memory. Returns false if no resource can be dropped. */
  readonly dropOne: () => boolean
}

export class CacheMemory {
  /** Maximum for all caches together. Infinity means no limit. */
  readonly bytesMax: number
  /** Number of caches that will share the memory. */
  readonly caches: number
  readonly #sharers: Sharer[] = []

  constructor(bytesMax: number, caches = 1) {
    this.bytesMax = bytesMax
    this.caches = caches
  }

  /**
   * Registers a cache. In the result, `usedBytes` returns the sum of all caches, and `isReleasing`
   * whether any cache is releasing objects. `dropOne` drops a resource of this cache, or else of
   * another one.
   */
  share(own: Sharer): Sharer {
    this.#sharers.push(own)
    return {
      usedBytes: () => this.#sharers.reduce((sum, { usedBytes }) => sum + usedBytes(), 0),
      isReleasing: () => this.#sharers.some(({ isReleasing }) => isReleasing()),
      dropOne: () =>
        own.dropOne() || this.#sharers.some((other) => other !== own && other.dropOne()),
    }
  }
}
