/**
 * The interface to the database that stores the objects. Each implementation is called an engine:
 * one for etcd (etcd-engine.ts), and others for stores inside the process. `store.ts` and `feed.ts`
 * depend only on this interface, so they work with all engines.
 *
 * An engine stores versioned values under ordered keys. Every change increments one revision
 * counter for all keys.
 */

/** The revision counter of the database. Clients see it as a string, the resourceVersion. */
export type Revision = number

/**
 * A key with one character per byte (latin1). Strings therefore sort like the bytes in the
 * database, whatever characters a name contains. `keys.ts` converts names to keys and back.
 */
export type Key = string

export type VersionedValue = {
  readonly key: Key
  /** A view of the received bytes. Callers must copy it to retain it. */
  readonly value: Buffer
  /** The revision of the last change. */
  readonly revision: Revision
  readonly createRevision: Revision
}

export type RangeResult = {
  /** The revision of the database to which the result corresponds. */
  readonly revision: Revision
  readonly values: readonly VersionedValue[]
  /** Whether the range contains more keys than the limit allows. */
  readonly more: boolean
  /** Number of keys in the whole range, regardless of the limit. */
  readonly count: number
}

export type RangeQuery = {
  /** The first key of the range, inclusive. The range ends before `to`. */
  readonly from: Key
  readonly to: Key
  /**
   * Reads the state at this revision. If absent, reads the latest state, which is a linearizable
   * read.
   */
  readonly revision?: Revision
  /** Maximum number of values. If 0 or absent, there is no limit. */
  readonly limit?: number
  readonly countOnly?: boolean
  /** If true, only keys and revisions are read, and the values are empty. */
  readonly keysOnly?: boolean
}

/** The revision of the last change of a key. 0 means that the key does not exist. */
export type KeyRevision = { readonly key: Key; readonly revision: Revision }

/**
 * A write of one key that takes effect only if the revision of the key is still `expected`. 0 means
 * that the key must not exist.
 */
export type ConditionalWrite = {
  readonly key: Key
  readonly expected: Revision
  /**
   * Other keys on which the write depends. The write takes effect only if none of them has changed.
   */
  readonly unchanged?: readonly KeyRevision[] | undefined
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
  /** The revision that created the key, or 0 for a delete. */
  readonly createRevision: Revision
  /** The new value, or an empty one for a delete. Callers must copy it to retain it. */
  readonly value: Buffer
  /**
   * The value before this event, for event feeds opened with `previous`. Undefined if there was no
   * value. Callers must copy it to retain it.
   */
  readonly previous?: VersionedValue
}

/**
 * Receives the events of an event feed. All calls come from one stream, in order, and not before
 * `openFeed` returns.
 */
export type FeedListener = {
  /**
   * Delivers events of one range, ordered by revision. All events of a revision are delivered in
   * one call.
   */
  readonly onEvents: (range: number, events: readonly FeedEvent[]) => void
  /** Reports that all events of all ranges up to and including this revision were delivered. */
  readonly onProgress: (revision: Revision) => void
  /**
   * Reports that history which this range still needs has been compacted. The range gets no more
   * events; the other ranges continue.
   */
  readonly onCompacted: (range: number, oldest: Revision) => void
  /**
   * Called when the stream has ended. No other function is called after that. If the stream was
   * ended by close(), there is no cause.
   */
  readonly onEnd: (cause: Error | undefined) => void
}

export type FeedStreamOptions = {
  /**
   * Whether to open the stream on a different member of the database than the previous stream. If
   * there is only one member, that member is used.
   */
  readonly away?: boolean
  /** Whether each event includes the previous value of the key. */
  readonly previous?: boolean
}

export interface FeedStream {
  /**
   * Requests a call of `onProgress`. While the database catches up, it may ignore the request, so
   * callers must repeat it.
   */
  requestProgress(): void
  close(): void
}

export type CallOptions = {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
  /** Headers for a database in another process, for example the trace context of the call. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The methods reject with a StorageError (errors.ts). */
export interface Engine extends AsyncDisposable {
  /**
   * Identifies the database that responded to the last call of `latest`, if the engine has such
   * IDs. For etcd it is the cluster ID. Different databases have different objects at the same
   * revisions.
   */
  readonly databaseId?: string | undefined
  range(query: RangeQuery, options?: CallOptions): Promise<RangeResult>
  /**
   * Makes a write if the key still has the expected revision. Rejects with 'missing', and writes
   * nothing, if the lease of the write does not exist.
   */
  change(change: ConditionalWrite, options?: CallOptions): Promise<Outcome>
  /**
   * Returns the revision of the last change that was acknowledged to any client before this call. A
   * read is consistent if it includes this revision.
   */
  latest(options?: CallOptions): Promise<Revision>
  openFeed(
    ranges: readonly FeedRange[],
    sink: FeedListener,
    options?: FeedStreamOptions,
  ): FeedStream
  /** Grants a lease. When it expires, the database deletes the keys attached to it. */
  grantLease(ttlSeconds: number, options?: CallOptions): Promise<bigint>
}
