/**
 * Provides the events from before the event ring for watches that resume from an old revision. They
 * are read from the history of the database. Watches that need the same history at the same time
 * share one read. Its memory is returned to the budget when the last of them has delivered the
 * events.
 */
import type { Revision } from '../engine.ts'
import type { ObjectChange } from './event.ts'
import { type History, readHistory } from './history.ts'
import { tooOld } from './read-errors.ts'
import type { CachedResourceOptions } from './resource-options.ts'
import type { CachedResource } from './resource.ts'

/**
 * Maximum number of reads for one watch. The events of one read nearly always reach up to the event
 * ring. If the event ring has advanced this many times in the meantime, the client has to list
 * again.
 */
const READS_MAX = 3

/**
 * Events from before the event ring. The events from index `at` of `changes` on belong to the
 * watch, and include all changes up to `until`.
 */
export type EarlierEvents = {
  readonly changes: readonly ObjectChange[]
  readonly at: number
  readonly until: Revision
  /** Returns the memory of the events to the budget. Must be called once. */
  readonly release: () => void
}

const nothing = { changes: [], at: 0, release: (): void => undefined }

export const noEarlierEvents = (until: Revision): EarlierEvents => ({ ...nothing, until })

type SharedHistory = { readonly read: Promise<History>; holders: number }

export class SharedHistories {
  readonly #resource: CachedResource
  readonly #options: CachedResourceOptions
  /**
   * Reads in progress, by the revision after which they begin. A watch that resumes from a later
   * revision shares the read.
   */
  readonly #reads = new Map<Revision, SharedHistory>()

  constructor(resource: CachedResource, options: CachedResourceOptions) {
    this.#resource = resource
    this.#options = options
  }

  /**
   * Returns all events after a revision that are no longer in the event ring. Rejects with
   * 'compacted' if they are not available or too many.
   */
  async eventsAfter(after: Revision, client: string): Promise<EarlierEvents> {
    let earlier = noEarlierEvents(after)
    try {
      for (let reads = 0; !this.#resource.ring.reachesBackTo(earlier.until); reads++) {
        if (reads === READS_MAX) throw tooOld()
        earlier = joined(earlier, await this.#read(earlier.until, client))
      }
      return earlier
    } catch (error) {
      earlier.release()
      throw error
    }
  }

  async #read(after: Revision, client: string): Promise<EarlierEvents> {
    const shared = this.#find(after) ?? this.#begin(after, client)
    shared.holders++
    const { changes, until, bytes } = await shared.read
    const release = (): void => {
      if (--shared.holders === 0) this.#options.histories.giveBack(bytes)
    }
    return { changes, at: positionAfter(changes, after), until: Math.max(until, after), release }
  }

  #find(after: Revision): SharedHistory | undefined {
    for (const [from, history] of this.#reads) if (from <= after) return history
    return undefined
  }

  #begin(after: Revision, client: string): SharedHistory {
    const resource = this.#resource
    const { ring, spec } = resource
    const read = readHistory(this.#options.engine, {
      prefix: spec.prefix,
      after,
      isEnough: (reported) => ring.reachesBackTo(reported),
      toItem: (stored) => resource.looseItemOfEncrypted(stored),
      budget: this.#options.histories,
      client,
      timers: this.#options.time,
    }).finally(() => this.#reads.delete(after))
    const shared = { read, holders: 0 }
    this.#reads.set(after, shared)
    return shared
  }
}

/**
 * Joins two consecutive ranges of events. The first range is nearly always empty. If not, the event
 * ring has advanced while the first range was read.
 */
function joined(first: EarlierEvents, second: EarlierEvents): EarlierEvents {
  if (first.at === first.changes.length) {
    first.release()
    return second
  }
  const release = (): void => {
    first.release()
    second.release()
  }
  const changes = [...first.changes.slice(first.at), ...second.changes.slice(second.at)]
  return { changes, at: 0, until: second.until, release }
}

function positionAfter(changes: readonly ObjectChange[], revision: Revision): number {
  const at = changes.findIndex((change) => change.revision > revision)
  return at === -1 ? changes.length : at
}
