/**
 * How much memory the objects of the cache may take (--cache-memory-max). A resource that does not
 * fit is not loaded: it is read from the database, for a while, and then tried again. To make room,
 * resources that nobody watches are dropped, the least recently read first.
 */
import type { Clock } from '../../lib/time/clock.ts'
import { Semaphore } from '../../lib/concurrency/semaphore.ts'
import { StorageError } from '../errors.ts'

/**
 * Lists that read such a resource from the database at the same time; the others wait. Each reads
 * all of it: more would keep the database from everything else.
 */
const STORE_LISTS_MAX = 4
/** How long a resource that did not fit is read from the database before it is tried again. */
const LEFT_OUT_MS = 60_000

export type CeilingOptions = {
  /** Infinity: no ceiling. */
  readonly bytesMax: number
  readonly usedBytes: () => number
  /** Drops what can be dropped; false: there was nothing. */
  readonly dropOne: () => boolean
  readonly clock: Pick<Clock, 'monotonicMs'>
}

export class CacheCeiling {
  readonly #options: CeilingOptions
  /** Until when, by the prefix of a resource. */
  readonly #leftOut = new Map<string, number>()
  /** Reads that memory would have answered. */
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

  /** Whether more objects may be loaded, after others made room for them. */
  hasRoom(): boolean {
    const { bytesMax, usedBytes, dropOne } = this.#options
    while (usedBytes() > bytesMax) if (!dropOne()) return false
    return true
  }

  /** Whether the resource was too large a while ago. */
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

/** For watches, which need the objects in memory. */
export const doesNotFit = (name: string): StorageError =>
  new StorageError(
    'busy',
    `${name} do not fit into the memory of the cache (--cache-memory-max), so that they cannot be watched now`,
  )

/** Ends a list that would exceed the ceiling. */
export class OutOfRoom extends Error {
  constructor(name: string) {
    super(`${name} do not fit into the memory of the cache`)
    this.name = 'OutOfRoom'
  }
}
