/**
 * The interface between objects and the database that keeps them. etcd is one engine
 * (etcd-engine.ts); a store inside the process can be another. `store.ts` and `feed.ts` depend on
 * this interface only, so their logic is written once.
 *
 * An engine keeps versioned values under ordered keys. Every change increments one revision counter
 * for all keys.
 */

/** The database's revision counter. Clients see it as a string, the resourceVersion. */
export type Revision = number

/**
 * A key with one character per byte (latin1), so that string order is the database's byte order,
 * whatever characters a name contains. `keys.ts` converts names to keys and back.
 */
export type Key = string

export type VersionedValue = {
  readonly key: Key
  /** Borrowed: a view of the received bytes. Copy it to keep it. */
  readonly value: Buffer
  /** The revision of the last change. */
  readonly revision: Revision
  readonly createRevision: Revision
}

export type RangeResult = {
  /** The revision of the database that the result reflects. */
  readonly revision: Revision
  readonly values: readonly VersionedValue[]
  /** Whether the range has more keys than the limit allowed. */
  readonly more: boolean
  /** Number of keys in the whole range, regardless of the limit. */
  readonly count: number
}

export type RangeQuery = {
  /** The first key of the range, inclusive. The range ends before `to`. */
  readonly from: Key
  readonly to: Key
  /**
   * Reads the state at this revision; if absent, the latest state. A read of the latest state is
   * linearizable.
   */
  readonly revision?: Revision
  /** Maximum number of values; 0 or absent means no limit. */
  readonly limit?: number
  readonly countOnly?: boolean
  /** Returns keys and revisions with empty values. */
  readonly keysOnly?: boolean
}

/**
 * A write of one key that takes effect only if the key is still at revision `expected`. 0 means
 * that the key must not exist.
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
  /** Delivers the events after this revision. */
  readonly after: Revision
}

export type FeedEvent = {
  readonly key: Key
  readonly type: 'put' | 'delete'
  readonly revision: Revision
  /** The revision that created the key; 0 for a delete. */
  readonly createRevision: Revision
  /** The new value, empty for a delete. Borrowed: copy it to keep it. */
  readonly value: Buffer
  /**
   * The value before this event, for feeds opened with `previous`. Absent if there was no value.
   * Borrowed: copy it to keep it.
   */
  readonly previous?: VersionedValue
}

/**
 * Receives a feed. All calls come from one stream, in order, and none before `openFeed` returns.
 */
export type FeedListener = {
  /**
   * Delivers events of one range in the order of their revisions. All events of a revision are in
   * one call.
   */
  readonly onEvents: (range: number, events: readonly FeedEvent[]) => void
  /** Reports that all events of all ranges up to and including this revision were delivered. */
  readonly onProgress: (revision: Revision) => void
  /**
   * Reports that history which this range still needed is compacted. The range gets no more events;
   * the other ranges continue.
   */
  readonly onCompacted: (range: number, oldest: Revision) => void
  /**
   * Called when the stream has ended; no call follows. Also called after close(), without a cause.
   */
  readonly onEnd: (cause: Error | undefined) => void
}

export type FeedStreamOptions = {
  /**
   * Opens the stream on another member of the database than the previous stream, if there is one.
   */
  readonly away?: boolean
  /** Includes the previous value of the key in each event. */
  readonly previous?: boolean
}

export interface FeedStream {
  /**
   * Requests an onProgress call. It may not come while the database catches up: request it again.
   */
  requestProgress(): void
  close(): void
}

export type CallOptions = {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
  /** Headers for a database in another process, such as the trace that the call belongs to. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Every method fails with a StorageError (errors.ts). */
export interface Engine extends AsyncDisposable {
  /**
   * Identifies the database that answered the last call of `latest` (etcd: the cluster ID), if the
   * engine has such IDs. A different database has different objects at the same revisions.
   */
  readonly databaseId?: string | undefined
  range(query: RangeQuery, options?: CallOptions): Promise<RangeResult>
  /** Fails with 'missing', without writing, if the lease of the write does not exist. */
  change(change: ConditionalWrite, options?: CallOptions): Promise<Outcome>
  /**
   * Returns the revision of the last change that was acknowledged to any client before this call.
   * This revision proves that a read is consistent.
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
