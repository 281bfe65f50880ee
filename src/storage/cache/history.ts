/**
 * Reads events that are older than the event ring from the history of the database. They are needed
 * for watches that resume from an old revision.
 */
import type { Timers } from '../../lib/time/timers.ts'
import {
  type Engine,
  type FeedEvent,
  type FeedStream,
  type Key,
  type Revision,
  type VersionedValue,
} from '../engine.ts'
import { StorageError } from '../errors.ts'
import { rangeOf } from '../keys.ts'
import { ObjectChange } from './event.ts'
import type { Item } from './item.ts'
import { tooOld } from './read-errors.ts'

/**
 * Maximum number of events in a history. The database replays a few thousand events per second, so
 * a new list is faster than a longer history.
 */
const EVENTS_MAX = 50_000
const BYTES_MAX = 32 << 20
/** Approximate memory of a history read before its first event. */
const READ_BYTES = 16 << 10
/** Approximate memory of an event in addition to its values. */
const EVENT_BYTES = 400
/**
 * Maximum number of concurrent history reads per client. A client that resumes its watches of all
 * kinds at once needs one read per kind. Even large clusters have only about a hundred kinds. A
 * client that needs more is resuming the same kind from many revisions.
 */
const CLIENT_READS_MAX = 256
const TIMEOUT_MS = 10_000
const ASK_AGAIN_MS = 20

export type History = {
  readonly changes: readonly ObjectChange[]
  /** `changes` is complete up to this revision. */
  readonly until: Revision
  /**
   * Number of bytes that the history has reserved in the budget. The owner of the changes must
   * return them to the budget when it releases the changes.
   */
  readonly bytes: number
}

/**
 * Limits the memory of all histories that are being read, or that have not been delivered to all of
 * their watchers yet.
 */
export class HistoryBudget {
  #leftBytes: number
  readonly #bytesMax: number
  /** Number of history reads in progress, keyed by client. */
  readonly #reads = new Map<string, number>()

  constructor(bytesMax: number) {
    this.#leftBytes = bytesMax
    this.#bytesMax = bytesMax
  }

  get used(): { readonly bytes: number; readonly bytesMax: number } {
    return { bytes: this.#bytesMax - this.#leftBytes, bytesMax: this.#bytesMax }
  }

  get leftBytes(): number {
    return this.#leftBytes
  }

  /** Reserves memory. If there is not enough, reserves nothing and returns false. */
  take(bytes: number): boolean {
    if (bytes > this.#leftBytes) return false
    this.#leftBytes -= bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#leftBytes += bytes
  }

  /**
   * Records the start of a read. Returns false if the client already has CLIENT_READS_MAX reads in
   * progress.
   */
  begin(client: string): boolean {
    const reads = this.#reads.get(client) ?? 0
    if (reads >= CLIENT_READS_MAX) return false
    this.#reads.set(client, reads + 1)
    return true
  }

  end(client: string): void {
    const reads = (this.#reads.get(client) ?? 0) - 1
    if (reads > 0) this.#reads.set(client, reads)
    else this.#reads.delete(client)
  }
}

export type HistoryQuery = {
  readonly prefix: Key
  readonly after: Revision
  /**
   * Returns whether a history up to this revision is sufficient. Called for each batch of events,
   * because the event ring advances during the read.
   */
  readonly isEnough: (reported: Revision) => boolean
  /**
   * Creates an item from a value. Returns undefined if the value cannot be decrypted synchronously.
   * Waiting for the key would take longer than a new list.
   */
  readonly toItem: (versioned: VersionedValue) => Item | undefined
  readonly budget: HistoryBudget
  /** The first client that requested the history. */
  readonly client: string
  readonly timers: Timers
}

/**
 * Reads the events after a revision. Rejects with 'compacted' if the events are no longer available
 * or are too many. Rejects with 'busy' if the budget or the limit of the client is exhausted.
 */
export function readHistory(
  engine: Pick<Engine, 'openFeed'>,
  query: HistoryQuery,
): Promise<History> {
  const { promise, resolve, reject } = Promise.withResolvers<History>()
  const { budget, client } = query
  if (!budget.begin(client)) return Promise.reject(busy())
  if (!budget.take(READ_BYTES)) {
    budget.end(client)
    return Promise.reject(busy())
  }
  const changes: ObjectChange[] = []
  let bytes = READ_BYTES
  let isOver = false
  // Ignore a second call of this function: closing the stream calls `onEnd`, which calls this
  // function again.
  const end = (settle: () => void): void => {
    if (isOver) return
    isOver = true
    budget.end(client)
    asker.close()
    timer.close()
    settle()
    stream?.close()
  }
  const reported = (until: Revision): void => {
    if (query.isEnough(until)) end(() => resolve({ changes, until, bytes }))
  }
  const fail = (error: StorageError): void =>
    end(() => {
      budget.giveBack(bytes)
      reject(error)
    })
  const asker = query.timers.every(ASK_AGAIN_MS, () => stream?.requestProgress())
  const timer = query.timers.after(TIMEOUT_MS, () =>
    fail(new StorageError('unavailable', 'reading the history took too long')),
  )
  const stream: FeedStream | undefined = engine.openFeed(
    [{ ...rangeOf(query.prefix), after: query.after }],
    {
      onEvents: (_, events) => {
        const more = events.reduce((sum, event) => sum + bytesOf(event), 0)
        if (!budget.take(more)) return fail(busy())
        bytes += more
        for (const event of events) {
          const change = toChange(event, query.toItem)
          if (change === undefined) return fail(tooOld())
          changes.push(change)
        }
        if (!events.every(isWhole) || changes.length > EVENTS_MAX || bytes > BYTES_MAX)
          fail(tooOld())
        else reported(events.at(-1)?.revision ?? 0)
      },
      onProgress: reported,
      onCompacted: (_, oldest) => fail(tooOld(oldest)),
      onEnd: (cause) =>
        fail(new StorageError('unavailable', 'the stream of the history ended early', { cause })),
    },
    { previous: true },
  )
  stream.requestProgress()
  return promise
}

/**
 * Whether the event contains the previous value of the key, or the key had no previous value. The
 * previous value is an earlier version in the history, so etcd can have compacted it although the
 * event itself is still available.
 */
const isWhole = ({ type, previous, createRevision, revision }: FeedEvent): boolean =>
  previous !== undefined || (type === 'put' && createRevision === revision)

const bytesOf = ({ value, previous }: FeedEvent): number =>
  EVENT_BYTES + value.length + (previous?.value.length ?? 0)

function toChange(event: FeedEvent, toItem: HistoryQuery['toItem']): ObjectChange | undefined {
  const { key, revision, type } = event
  const item = type === 'put' ? toItem(event) : undefined
  const previous = event.previous && toItem(event.previous)
  const isWithout =
    (type === 'put' && item === undefined) ||
    (event.previous !== undefined && previous === undefined)
  return isWithout ? undefined : new ObjectChange({ key, revision, item, previous })
}

const busy = (): StorageError =>
  new StorageError(
    'busy',
    'too many watches are resuming from old revisions at the same time, please try again later',
  )
