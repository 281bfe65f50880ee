/**
 * The seam between objects and the database that keeps them. etcd is one engine (etcd-engine.ts); a store inside the
 * process can be another. `store.ts` and `feed.ts` stand on this and on nothing else, so their logic is written once.
 *
 * An engine keeps versioned values under ordered keys. Every change moves one revision counter for all keys.
 */

/** The database's counter. What clients see as a resourceVersion is this number as text. */
export type Revision = number

/**
 * A key, one character per byte (latin1): string order is then the database's byte order, whatever a name contains.
 * `keys.ts` makes keys from names and back.
 */
export type Key = string

export type Versioned = {
  readonly key: Key
  /** Borrowed: a view of what arrived from the network. Copy it to keep it. */
  readonly value: Buffer
  /** The revision of the last change. */
  readonly revision: Revision
  readonly createRevision: Revision
}

export type Found = {
  /** The revision of the database at which the answer is true. */
  readonly revision: Revision
  readonly values: readonly Versioned[]
  /** Whether the range holds more than the limit let through. */
  readonly more: boolean
  /** How many keys the whole range holds, whatever the limit. */
  readonly count: number
}

export type RangeQuery = {
  /** The first key; the range ends before `to`. */
  readonly from: Key
  readonly to: Key
  /** The state at this revision; the latest when absent. Latest is linearizable. */
  readonly revision?: Revision
  /** 0 or absent: no limit. */
  readonly limit?: number
  readonly countOnly?: boolean
  /** Keys and revisions, values empty. */
  readonly keysOnly?: boolean
}

/** A write of one key that takes effect only if the key still is at `expected` (0: does not exist). */
export type ConditionalWrite = {
  readonly key: Key
  readonly expected: Revision
  readonly write: { readonly put: Buffer; readonly lease?: bigint } | 'delete'
}

export type Outcome =
  | { readonly won: true; readonly revision: Revision }
  | { readonly won: false; readonly revision: Revision; readonly current: Versioned | undefined }

export type FeedRange = {
  readonly from: Key
  readonly to: Key
  /** Everything after this revision is told. */
  readonly after: Revision
}

export type FeedEvent = {
  readonly key: Key
  readonly type: 'put' | 'delete'
  readonly revision: Revision
  /** 0 for a delete. */
  readonly createRevision: Revision
  /** Empty for a delete. Borrowed: copy it to keep it. */
  readonly value: Buffer
  /** The value before this event, for feeds opened with `previous`; absent where there was none. Borrowed. */
  readonly previous?: Versioned
}

/** All calls are in order and come from the one stream; none comes before openFeed has returned. */
export type FeedSink = {
  /** Events of one range in the order of their revisions; all events of a revision are in one call. */
  readonly onEvents: (range: number, events: readonly FeedEvent[]) => void
  /** Every range has been told everything up to and with this revision. */
  readonly onProgress: (revision: Revision) => void
  /** The history after `after` of this range is gone; the range is told nothing more. The others go on. */
  readonly onCompacted: (range: number, oldest: Revision) => void
  /** The stream is over; nothing more is told. Also after close(), with no cause. */
  readonly onEnd: (cause: Error | undefined) => void
}

export type FeedOptions = {
  /** Moves to another member of the database than the last stream had, if there is one. */
  readonly away?: boolean
  /** Events carry the value before them. */
  readonly previous?: boolean
}

export interface FeedStream {
  /** Asks for an onProgress. It may not come while the database catches up: ask again. */
  requestProgress(): void
  close(): void
}

export type CallOptions = { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number }

/** Every method fails with a StorageError (errors.ts). */
export interface Engine extends AsyncDisposable {
  /** Names the database that answered `latest` last, where databases have names. Another one has other objects under the same revisions. */
  readonly databaseId?: string | undefined
  range(query: RangeQuery, options?: CallOptions): Promise<Found>
  /** Also fails with 'missing' when the lease is not there (any more); nothing is written then. */
  change(change: ConditionalWrite, options?: CallOptions): Promise<Outcome>
  /** The revision of the last change acknowledged to anybody before this call: the proof of a consistent read. */
  latest(options?: CallOptions): Promise<Revision>
  openFeed(ranges: readonly FeedRange[], sink: FeedSink, options?: FeedOptions): FeedStream
  /** A lease that takes the values attached to it away when it ends. */
  grantLease(ttlSeconds: number, options?: CallOptions): Promise<bigint>
}
