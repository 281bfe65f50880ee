/**
 * Metrics of a cached resource since its creation. The counters are plain fields, because each read
 * increments some of them.
 */
import { Distribution } from '../../lib/telemetry/metrics.ts'

/** Bucket bounds in seconds, as in kube-apiserver. */
export const readWaitBounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3]

export type ListCounts = { lists: number; fetched: number; returned: number }

export class ResourceCounts {
  /** Number of times the whole resource was listed. */
  initialized = 0
  /** Number of events received from the database. */
  received = 0
  /** Number of events passed on to watchers. */
  dispatched = 0
  /** Number of objects that were sent as the initial state of watches. */
  initial = 0
  /**
   * Number of linearizable reads that were served from memory. `fellBack` counts those that read
   * the database because the cache did not catch up in time.
   */
  consistent = 0
  fellBack = 0
  /**
   * Number of watches that were closed because their clients read too slowly. `gaps` counts those
   * that were closed because events were lost.
   */
  tooSlow = 0
  gaps = 0
  /** Time that reads waited until the cache was as recent as requested. */
  readonly readWait = new Distribution(readWaitBounds)
  /**
   * Number of lists that were served from memory, by the index that was used. The name is empty if
   * no index was used.
   */
  readonly #fromMemory = new Map<string, ListCounts>()
  /** Number of lists that were read from the database. */
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
