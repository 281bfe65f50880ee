/**
 * Limits the memory that cached objects take (--cache-memory-max). A resource that does not fit is
 * not loaded: its reads go to the database for a while, and then loading it is tried again. To make
 * room, resources without watchers are dropped, the least recently read first.
 */
import type { Clock } from '../../lib/time/clock.ts'
import { Semaphore } from '../../lib/concurrency/semaphore.ts'
import { StorageError } from '../errors.ts'

/**
 * How many lists may read resources that do not fit from the database at the same time; the others
 * wait. Each reads the whole resource, so more would keep the database from serving anything else.
 */
const STORE_LISTS_MAX = 4
/**
 * How long a resource that did not fit is read from the database before loading it is tried again.
 */
const LEFT_OUT_MS = 60_000

export type CeilingOptions = {
  /** Maximum memory for objects. Infinity: no ceiling. */
  readonly bytesMax: number
  readonly usedBytes: () => number
  /** Drops one resource. Returns false if there was none to drop. */
  readonly dropOne: () => boolean
  readonly clock: Pick<Clock, 'monotonicMs'>
}

export class CacheCeiling {
  readonly #options: CeilingOptions
  /** The time until which a resource is not loaded, by its prefix. */
  readonly #leftOut = new Map<string, number>()
  /** Number of reads that went to the database because the resource did not fit. */
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

  /** Whether more objects may be loaded. Drops other resources first if necessary. */
  hasRoom(): boolean {
    const { bytesMax, usedBytes, dropOne } = this.#options
    while (usedBytes() > bytesMax) if (!dropOne()) return false
    return true
  }

  /** Whether the resource recently did not fit, and must be read from the database. */
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

/** The error of a watch, which needs the objects in memory. */
export const doesNotFit = (name: string): StorageError =>
  new StorageError(
    'busy',
    `${name} do not fit into the cache (--cache-memory-max), so they cannot be watched at the moment`,
  )

/** Aborts the loading of a resource that would exceed the ceiling. */
export class OutOfRoom extends Error {
  constructor(name: string) {
    super(`${name} do not fit into the cache`)
    this.name = 'OutOfRoom'
  }
}
