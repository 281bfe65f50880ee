/**
 * What --cache-memory-max allows, shared by the caches of a process: there is one for each etcd
 * (--etcd-servers-overrides).
 */

type Sharer = {
  readonly usedBytes: () => number
  /** Drops what can be dropped; false: there was nothing. */
  readonly dropOne: () => boolean
}

export class CacheMemory {
  /** Of all caches together; Infinity: no ceiling. */
  readonly bytesMax: number
  /** How many caches there will be. */
  readonly caches: number
  readonly #sharers: Sharer[] = []

  constructor(bytesMax: number, caches = 1) {
    this.bytesMax = bytesMax
    this.caches = caches
  }

  /**
   * Returns the same for a ceiling over all of them: room is made in the cache that needs it first.
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
