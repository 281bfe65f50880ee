/**
 * The interface between objects and the database that keeps them. etcd is one engine
 * (etcd-engine.ts); a store inside the process can be another. `store.ts` and `feed.ts` depend on
 * this interface only, so their logic is written once.
 *
 * An engine keeps versioned values under ordered keys. Every change increments one revision counter
 * for all keys.
 */

/** The database's revision counter. Clients see it, as text, as the resourceVersion. */
export type Revision = number

/**
 * A key, one character per byte (latin1): string order is then the database's byte order, whatever
 * a name contains. `keys.ts` makes keys from names and back.
 */
export type Key = string

export type VersionedValue = {
  readonly key: Key
  /** Borrowed: a view of what arrived from the network. Copy it to keep it. */
  readonly value: Buffer
  /** The revision of the last change. */
  readonly revision: Revision
  readonly createRevision: Revision
}

export type RangeResult = {
  /** The revision of the database that the answer reflects. */
  readonly revision: Revision
  readonly values: readonly VersionedValue[]
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

/**
 * A write of one key that takes effect only if the key still is at `expected` (0: does not exist).
 */
export type ConditionalWrite = {
  readonly key: Key
  readonly expected: Revision
  readonly write: { readonly put: Buffer; readonly lease?: bigint } | 'delete'
}

export type Outcome =
  | { readonly won: true; readonly revision: Revision }
  | {
      readonly won: false
      readonly revision: Revision
      readonly current: VersionedValue | undefined
    }

export type FeedRange = {
  readonly from: Key
  readonly to: Key
  /** Events after this revision are delivered. */
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
  /**
   * The value before this event, for feeds opened with `previous`; absent where there was none.
   * Borrowed.
   */
  readonly previous?: VersionedValue
}

/** All calls are in order and come from the one stream; none comes before openFeed has returned. */
export type FeedListener = {
  /**
   * Events of one range in the order of their revisions; all events of a revision are in one call.
   */
  readonly onEvents: (range: number, events: readonly FeedEvent[]) => void
  /** All events of all ranges up to and including this revision have been delivered. */
  readonly onProgress: (revision: Revision) => void
  /**
   * The history after `after` of this range is compacted: the range gets no more events. The other
   * ranges do.
   */
  readonly onCompacted: (range: number, oldest: Revision) => void
  /** The stream has ended and no call follows. Also called after close(), without a cause. */
  readonly onEnd: (cause: Error | undefined) => void
}

export type FeedStreamOptions = {
  /** Opens the stream on another member of the database than the last stream, if there is one. */
  readonly away?: boolean
  /** Events carry the previous value of their key. */
  readonly previous?: boolean
}

export interface FeedStream {
  /** Requests an onProgress. It may not come while the database catches up: request it again. */
  requestProgress(): void
  close(): void
}

export type CallOptions = {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
  /** For the database, if it is another program: which trace the call belongs to. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Every method fails with a StorageError (errors.ts). */
export interface Engine extends AsyncDisposable {
  /**
   * Identifies the database that answered `latest` last (etcd: the cluster ID), if the engine has
   * IDs. Another database has other objects at the same revisions.
   */
  readonly databaseId?: string | undefined
  range(query: RangeQuery, options?: CallOptions): Promise<RangeResult>
  /** Also fails with 'missing', without a write, if the lease does not exist (any more). */
  change(change: ConditionalWrite, options?: CallOptions): Promise<Outcome>
  /**
   * The revision of the last change acknowledged to any client before this call: the proof of a
   * consistent read.
   */
  latest(options?: CallOptions): Promise<Revision>
  openFeed(
    ranges: readonly FeedRange[],
    sink: FeedListener,
    options?: FeedStreamOptions,
  ): FeedStream
  /** Grants a lease: when it expires, the database deletes the keys attached to it. */
  grantLease(ttlSeconds: number, options?: CallOptions): Promise<bigint>
}
