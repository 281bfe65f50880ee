/**
 * The events from before the ring, for watches that resume there. They are read from the database's
 * history. Watches that need the same history at the same time share one read. Its memory is given
 * back when the last of them has delivered the events.
 */
import type { Revision } from '../engine.ts'
import type { ObjectChange } from './event.ts'
import { type History, readHistory } from './history.ts'
import { tooOld } from './read-errors.ts'
import type { CachedResourceOptions } from './resource-options.ts'
import type { CachedResource } from './resource.ts'

/**
 * Maximum number of reads for one watch. A read nearly always ends where the ring begins. If the
 * ring has moved on this often, the client has to list again.
 */
const READS_MAX = 3

/**
 * Events from before the ring, starting at index `at` of `changes`. They include everything up to
 * `until`.
 */
export type EarlierEvents = {
  readonly changes: readonly ObjectChange[]
  readonly at: number
  readonly until: Revision
  /** Gives the memory of the events back. Called once. */
  readonly release: () => void
}

const nothing = { changes: [], at: 0, release: (): void => undefined }

export const noEarlierEvents = (until: Revision): EarlierEvents => ({ ...nothing, until })

type SharedHistory = { readonly read: Promise<History>; holders: number }

export class SharedHistories {
  readonly #resource: CachedResource
  readonly #options: CachedResourceOptions
  /**
   * Reads in progress, by the revision that they begin after. A watch that resumes from a later
   * revision shares the read.
   */
  readonly #reads = new Map<Revision, SharedHistory>()

  constructor(resource: CachedResource, options: CachedResourceOptions) {
    this.#resource = resource
    this.#options = options
  }

  /**
   * Returns all events after a revision that the ring no longer has. Fails with 'compacted' if they
   * are gone or too many.
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
 * Joins two consecutive ranges of events. The first one is nearly always empty. If not, the ring
 * has moved on while it was read.
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
