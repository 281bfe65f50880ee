/**
 * Lists from the database that were recently refused because requests may not hold that much
 * memory. If a client repeats such a list, it is refused before anything is read. Otherwise a few
 * clients that retry without a delay could make the server read and discard as much as it may hold,
 * over and over, faster than the garbage collector frees it.
 */
import { hash } from 'node:crypto'
import type { Clock } from '../../lib/time/clock.ts'
import { TtlCache } from '../../lib/cache/ttl-cache.ts'
import type { KeyRange } from '../keys.ts'

/**
 * Time after which a refused list is tried again: objects may have been deleted, or other lists may
 * have ended.
 */
const REFUSED_MS = 5_000
const RANGES_MAX = 100

export class RefusedLists {
  readonly #bytes: TtlCache<number>

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#bytes = new TtlCache({ sizeMax: RANGES_MAX }, clock)
  }

  /**
   * Returns the least memory in bytes that a list of the range takes. 0 if that is not known. A
   * `limit` of 0 means that there is none.
   */
  needs(range: KeyRange, limit: number): number {
    return this.#bytes.get(nameOf(range, limit)) ?? 0
  }

  /** Records that the list would have taken more than this many bytes. */
  refuse(range: KeyRange, limit: number, bytes: number): void {
    if (bytes > this.needs(range, limit))
      this.#bytes.set(nameOf(range, limit), bytes, { ttlMs: REFUSED_MS })
  }
}

/**
 * Returns the cache key of a list. It is a hash, because clients choose the start key of a list,
 * which can be a megabyte long.
 */
const nameOf = ({ from, to }: KeyRange, limit: number): string =>
  hash('sha256', `${from} ${to} ${limit}`, 'base64')
