/**
 * Records lists from the database that were recently refused because they would exceed the memory
 * budget for requests. If a client repeats such a list, it is refused before anything is read.
 * Otherwise a few clients that retry without a delay could make the server read and discard large
 * lists over and over. The garbage collector would then not free their memory fast enough.
 */
import { hash } from 'node:crypto'
import type { Clock } from '../../lib/time/clock.ts'
import { TtlCache } from '../../lib/cache/ttl-cache.ts'
import type { KeyRange } from '../keys.ts'

/**
 * Time after which a refused list is tried again. By then, objects may have been deleted, or other
 * lists may have ended.
 */
const REFUSED_MS = 5_000
const RANGES_MAX = 100

export class RefusedLists {
  readonly #bytes: TtlCache<number>

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#bytes = new TtlCache({ sizeMax: RANGES_MAX }, clock)
  }

  /**
   * Returns the minimum memory in bytes that a list of the range needs, or 0 if this is unknown. A
   * `limit` of 0 means that the list has no limit.
   */
  needs(range: KeyRange, limit: number): number {
    return this.#bytes.get(nameOf(range, limit)) ?? 0
  }

  /** Records that the list would need more than this many bytes. */
  refuse(range: KeyRange, limit: number, bytes: number): void {
    if (bytes > this.needs(range, limit))
      this.#bytes.set(nameOf(range, limit), bytes, { ttlMs: REFUSED_MS })
  }
}

/**
 * Returns the cache key for a list. It is a hash, because clients choose the start key of a list,
 * which can be a megabyte long.
 */
const nameOf = ({ from, to }: KeyRange, limit: number): string =>
  hash('sha256', `${from} ${to} ${limit}`, 'base64')
