/**
 * What happened in a cached resource since it was made, for metrics. Plain fields: a read pays an
 * addition for each.
 */
import { Distribution } from '../../lib/telemetry/metrics.ts'

/** In seconds: upstream's. */
export const readWaitBounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3]

export type ListCounts = { lists: number; fetched: number; returned: number }

export class ResourceCounts {
  /** Times that it was listed as a whole. */
  initialized = 0
  /** Events of the database. */
  received = 0
  /** Events that were handed on to watches. */
  dispatched = 0
  /** Objects that watches began with. */
  initial = 0
  /** Reads of the latest state that memory answered, and those for which the feed was too late. */
  consistent = 0
  fellBack = 0
  /**
   * Watches that were ended since their client took events too slowly, and since events were lost.
   */
  tooSlow = 0
  gaps = 0
  /** How long reads waited until memory was as new as they asked for. */
  readonly readWait = new Distribution(readWaitBounds)
  /** Lists from memory, by the index that led to the objects; '' is none. */
  readonly #fromMemory = new Map<string, ListCounts>()
  /** Lists from the database. */
  readonly fromStore: ListCounts & { evaluated: number } = {
    lists: 0,
    fetched: 0,
    evaluated: 0,
    returned: 0,
  }

  get fromMemory(): ReadonlyMap<string, ListCounts> {
    return this.#fromMemory
  }

  listed(index: string, fetched: number, returned: number): void {
    let counts = this.#fromMemory.get(index)
    if (counts === undefined)
      this.#fromMemory.set(index, (counts = { lists: 0, fetched: 0, returned: 0 }))
    counts.lists++
    counts.fetched += fetched
    counts.returned += returned
  }
}
