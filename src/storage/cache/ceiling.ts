/**
 * Limits the memory for cached objects (--cache-memory-max). A resource that does not fit into this
 * memory is not loaded. It is read from the database for a while, after which loading is tried
 * again. To make room, resources without watchers are dropped, starting with the least recently
 * read one.
 */
import type { Clock } from '../../lib/time/clock.ts'
import { Semaphore } from '../../lib/concurrency/semaphore.ts'
import { StorageError } from '../errors.ts'

/**
 * Maximum number of concurrent lists of resources that do not fit into memory. Further lists wait.
 * Each list reads the whole resource, so more lists would overload the database.
 */
const STORE_LISTS_MAX = 4
/**
 * Time for which a resource that did not fit into memory is read from the database before loading
 * is tried again.
 */
const LEFT_OUT_MS = 60_000

export type CeilingOptions = {
  /** Maximum memory for objects. Infinity means no limit. */
  readonly bytesMax: number
  readonly usedBytes: () => number
  /** Whether `usedBytes` is about to decrease, because dropped objects are being released. */
  readonly isReleasing: () => boolean
  /** Drops one resource from memory. Returns false if no resource can be dropped. */
  readonly dropOne: () => boolean
  readonly clock: Pick<Clock, 'monotonicMs'>
}

export class CacheCeiling {
  readonly #options: CeilingOptions
  /**
   * The resources that are not loaded because they did not fit into memory, keyed by prefix. Each
   * value is the time at which loading is tried again.
   */
  readonly #leftOut = new Map<string, number>()
  /**
   * Number of reads that were served from the database because their resource did not fit into
   * memory.
   */
  storeReads = 0
  readonly storeLists = new Semaphore(STORE_LISTS_MAX)

  constructor(options: CeilingOptions) {
    this.#options = options
  }

  get bytesMax(): number {
    return this.#options.bytesMax
  }

  get leftOut(): number {
    return this.#leftOut.size
  }

  /** Whether more objects can be loaded. Drops other resources first if necessary. */
  hasRoom(): boolean {
    const { bytesMax, usedBytes, isReleasing, dropOne } = this.#options
    while (usedBytes() > bytesMax) {
      // Wait until the memory of dropped objects is released. Otherwise all resources would be
      // dropped in the meantime.
      if (isReleasing()) return true
      if (!dropOne()) return false
    }
    return true
  }

  /** Whether the resource recently did not fit into memory and must be read from the database. */
  leavesOut(prefix: string): boolean {
    const untilMs = this.#leftOut.get(prefix)
    if (untilMs === undefined) return false
    if (this.#options.clock.monotonicMs() < untilMs) return true
    this.#leftOut.delete(prefix)
    return false
  }

  leaveOut(prefix: string): void {
    this.#leftOut.set(prefix, this.#options.clock.monotonicMs() + LEFT_OUT_MS)
  }
}

/**
 * Returns the error for a watch of a resource that does not fit into memory, because watches need
 * the objects in memory.
 */
export const doesNotFit = (name: string): StorageError =>
  new StorageError(
    'busy',
    `${name} do not fit into the cache (--cache-memory-max), so they cannot be watched at the moment`,
  )

/** Thrown to abort the loading of a resource that would exceed the memory limit. */
export class OutOfRoom extends Error {
  constructor(name: string) {
    super(`${name} do not fit into the cache`)
    this.name = 'OutOfRoom'
  }
}
