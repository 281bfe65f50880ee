/**
 * A FeedStream for etcd: one watch stream with a watch for each range.
 *
 * Progress is read only from notifications for the whole stream (watch ID -1), and is requested
 * only after every watch has been created. A notification covers the watches that exist when etcd
 * gets the request, so an earlier one would leave some out. Notifications and events share one
 * queue in etcd, so a notification never overtakes the events that it covers.
 */
import type { EtcdClient } from './etcd/client.ts'
import type { KeyValue } from './etcd/codec/kv-response.ts'
import type { EtcdEvent } from './etcd/codec/watch.ts'
import type { WatchStream } from './etcd/watch.ts'
import type {
  FeedEvent,
  FeedStreamOptions,
  FeedRange,
  FeedListener,
  FeedStream,
  Revision,
  VersionedValue,
} from './engine.ts'
import { StorageError } from './errors.ts'
import { toStorageError } from './etcd-errors.ts'
import { fromBytes, keyAfter, toBytes } from './keys.ts'

export type EtcdFeedStreamOptions = FeedStreamOptions & {
  readonly ranges: readonly FeedRange[]
  readonly sink: FeedListener
}

export class EtcdFeedStream implements FeedStream {
  readonly #sink: FeedListener
  readonly #previous: boolean
  readonly #stream: WatchStream
  /** Ranges whose watch etcd has not created or canceled yet. */
  readonly #awaited: Set<number>
  #isProgressWanted = false
  #isEnded = false

  constructor(
    client: EtcdClient,
    { ranges, sink, away = false, previous = false }: EtcdFeedStreamOptions,
  ) {
    this.#sink = sink
    this.#previous = previous
    this.#awaited = new Set(ranges.keys())
    this.#stream = client.watch.open({
      requireLeader: true,
      away,
      onProgressAll: (revision) => this.#onProgress(revision),
      onEnd: (error) => this.#end(error && toStorageError(error, { isWrite: false })),
    })
    for (const [index, range] of ranges.entries()) this.#watch(index, range)
  }

  requestProgress(): void {
    if (this.#awaited.size > 0) this.#isProgressWanted = true
    else if (!this.#isEnded) this.#stream.requestProgress()
  }

  close(): void {
    this.#end(undefined)
  }

  /**
   * Creates the watch of a range. The watch starts at the last known revision, and the events of
   * that revision are skipped. etcd sends no progress notification before the database has reached
   * the start revision of a watch. A watch that started at the next revision would therefore be
   * silent in an idle database.
   *
   * If etcd has compacted to the next revision, the history of the range is treated as lost,
   * although a watch could still start there. The reason is that etcd before 3.5.19 drops a
   * deletion at the revision to which it compacts.
   */
  #watch(index: number, { from, to, after }: FeedRange): void {
    let reported = after
    this.#stream.create(
      {
        key: toBytes(from),
        rangeEnd: to === keyAfter(from) ? undefined : toBytes(to),
        startRevision: after,
        fragment: true,
        prevKv: this.#previous,
      },
      {
        onCreated: () => this.#onAnswered(index),
        onEvents: (received) => {
          if (this.#isEnded) return
          const events =
            reported === after ? received.filter((event) => event.kv.modRevision > after) : received
          const [first] = events
          if (first === undefined) return
          if (first.kv.modRevision <= reported) return this.#end(repeated(reported))
          reported = events.at(-1)?.kv.modRevision ?? reported
          this.#sink.onEvents(index, events.map(toFeedEvent))
        },
        onCanceled: ({ reason, compactRevision }) => {
          if (this.#isEnded) return
          if (compactRevision === 0)
            return this.#end(new StorageError('unavailable', `watch cancelled: ${reason}`))
          this.#onAnswered(index)
          this.#sink.onCompacted(index, compactRevision)
        },
      },
    )
  }

  #onAnswered(index: number): void {
    this.#awaited.delete(index)
    if (this.#awaited.size > 0 || !this.#isProgressWanted || this.#isEnded) return
    this.#isProgressWanted = false
    this.#stream.requestProgress()
  }

  #onProgress(revision: Revision): void {
    if (!this.#isEnded && this.#awaited.size === 0) this.#sink.onProgress(revision)
  }

  #end(cause: unknown): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#stream.close()
    this.#sink.onEnd(cause instanceof Error ? cause : undefined)
  }
}

/**
 * Returns the error for a revision whose events arrive in two parts. Consumers assume that a
 * delivered revision is complete, and etcd guarantees this.
 */
const repeated = (reported: Revision): StorageError =>
  new StorageError(
    'unavailable',
    `etcd sent more events of a revision up to ${reported} after that revision was complete`,
  )

function toFeedEvent({ type, kv, prevKv }: EtcdEvent): FeedEvent {
  const createRevision = type === 'delete' ? 0 : kv.createRevision
  const event = {
    key: fromBytes(kv.key),
    type,
    revision: kv.modRevision,
    createRevision,
    value: kv.value,
  }
  return prevKv === undefined ? event : { ...event, previous: toVersioned(prevKv) }
}

export const toVersioned = (kv: KeyValue): VersionedValue => ({
  key: fromBytes(kv.key),
  value: kv.value,
  revision: kv.modRevision,
  createRevision: kv.createRevision,
})
