/**
 * Lists from the database that were refused a moment ago, since requests may not hold so much. Who
 * asks for one again is refused before anything is read: otherwise a few clients that do not wait
 * make the server read, and drop, as much as it may hold, over and over, faster than the collector
 * takes it away.
 */
import { hash } from 'node:crypto'
import type { Clock } from '../../lib/time/clock.ts'
import { TtlCache } from '../../lib/cache/ttl-cache.ts'
import type { KeyRange } from '../keys.ts'

/** Objects may be deleted, or others end their lists: after this time it is tried again. */
const REFUSED_MS = 5_000
const RANGES_MAX = 100

export class RefusedLists {
  readonly #bytes: TtlCache<number>

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#bytes = new TtlCache({ sizeMax: RANGES_MAX }, clock)
  }

  /**
   * What a list of the range takes at least; 0: that is not known. `limit`: 0, if there is none.
   */
  needs(range: KeyRange, limit: number): number {
    return this.#bytes.get(nameOf(range, limit)) ?? 0
  }

  /** It would have taken more than so many bytes. */
  refuse(range: KeyRange, limit: number, bytes: number): void {
    if (bytes > this.needs(range, limit))
      this.#bytes.set(nameOf(range, limit), bytes, { ttlMs: REFUSED_MS })
  }
}

/** A hash: the key that a list begins at is a client's, who may say a megabyte. */
const nameOf = ({ from, to }: KeyRange, limit: number): string =>
  hash('sha256', `${from} ${to} ${limit}`, 'base64')
