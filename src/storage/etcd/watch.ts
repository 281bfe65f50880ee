/**
 * Watch streams. One stream carries many watches, and etcd identifies each by an ID that we choose.
 *
 * etcd responds to `requestProgress` with one message for the whole stream (watch ID -1), and only
 * if every watch of the stream is synced at that moment. Otherwise it never responds to that
 * request, so callers that need a response must repeat it.
 *
 * A stream is not resumed here: its reader knows which revision it has reached, and opens another
 * stream from there.
 */
import type { Channel } from '../../net/grpc/channel.ts'
import { WireReader } from '../../net/grpc/codec/reader.ts'
import {
  encodeWatchCancel,
  encodeWatchCreate,
  encodeWatchProgress,
  readWatch,
  type WatchAnswer,
  type WatchCreate,
  type EtcdEvent,
} from './codec/watch.ts'
import { GrpcError } from '../../net/grpc/errors.ts'
import { Fragments } from './fragments.ts'
import type { StreamHandle } from '../../net/grpc/stream-handle.ts'

/**
 * Receives one watch. All calls are synchronous, in the order of the stream. Keys and values of
 * events are borrowed.
 */
export type WatchHandler = {
  readonly onCreated?: (revision: number) => void
  /**
   * Delivers events in the order of their revisions. All events of one revision are in one call,
   * with fragments joined. `headerRevision` says nothing about other watches, nor that all events
   * up to it have been delivered.
   */
  readonly onEvents: (events: readonly EtcdEvent[], headerRevision: number) => void
  /** Reports that all events of this watch up to and including this revision were delivered. */
  readonly onProgress?: (revision: number) => void
  /**
   * Called when the watch has ended, but not after cancel(). The stream continues.
   * `compactRevision` is above 0 if the requested history is compacted.
   */
  readonly onCanceled: (end: { readonly reason: string; readonly compactRevision: number }) => void
}

export type WatchStreamHandler = {
  /**
   * Reports that all events of all watches up to and including this revision were delivered. With
   * this handler, only members with reliable progress are used.
   */
  readonly onProgressAll?: (revision: number) => void
  /** Called exactly once, whatever ends the stream; without an error after close(). */
  readonly onEnd: (error: GrpcError | undefined) => void
}

export type WatchOpen = {
  /** Ends the stream when the member loses its leader, because it would then fall silent. */
  readonly requireLeader?: boolean
  /** Prefers another endpoint than that of the last stream. */
  readonly away?: boolean
} & WatchStreamHandler

export type WatchHandle = { readonly cancel: () => void }

/** The watch ID of messages for the whole stream, and of watches that etcd refused to create. */
const STREAM_WATCH_ID = -1

export class Watches {
  readonly #channel: Channel

  constructor(channel: Channel) {
    this.#channel = channel
  }

  /** Returns immediately; requests to the stream wait for the connection. */
  open(options: WatchOpen): WatchStream {
    return new WatchStream(this.#channel, options)
  }
}

type Watch = {
  readonly id: number
  readonly handler: WatchHandler
  readonly fragments: Fragments
}

export class WatchStream {
  readonly #channel: Channel
  readonly #handler: WatchStreamHandler
  readonly #stream: StreamHandle
  readonly #watches = new Map<number, Watch>()
  // Watches that etcd has not created yet, in the order of the requests. etcd responds in this
  // order.
  readonly #uncreated: number[] = []
  #nextId = 1

  constructor(channel: Channel, options: WatchOpen) {
    this.#channel = channel
    this.#handler = options
    this.#stream = channel.stream({
      path: '/etcdserverpb.Watch/Watch',
      requireLeader: options.requireLeader ?? false,
      away: options.away ?? false,
      needsCheck: options.onProgressAll !== undefined,
      onMessage: (message) => this.#onAnswer(readWatch(new WireReader(message)), message.length),
      onEnd: (error) => {
        this.#watches.clear()
        options.onEnd(error)
      },
    })
  }

  create(create: WatchCreate, handler: WatchHandler): WatchHandle {
    const id = this.#nextId++
    this.#stream.send(encodeWatchCreate(id, create))
    this.#watches.set(id, { id, handler, fragments: new Fragments() })
    this.#uncreated.push(id)
    return {
      cancel: () => {
        if (this.#watches.delete(id)) this.#stream.send(encodeWatchCancel(id))
      },
    }
  }

  /**
   * Requests progress. The response is a call of onProgressAll, if it comes: see the top of this
   * file.
   */
  requestProgress(): void {
    this.#stream.send(encodeWatchProgress())
  }

  close(): void {
    this.#stream.close()
  }

  #onAnswer(answer: WatchAnswer, bytes: number): void {
    if (answer.created) this.#onCreated(answer)
    else if (answer.watchId === STREAM_WATCH_ID) this.#handler.onProgressAll?.(answer.revision)
    else {
      // Events of a canceled watch may still arrive.
      const watch = this.#watches.get(answer.watchId)
      if (watch === undefined) return
      if (answer.events.length > 0) {
        const events = watch.fragments.add(answer, bytes)
        if (events !== undefined) watch.handler.onEvents(events, answer.revision)
      }
      if (answer.canceled) this.#cancel(watch, answer)
      else if (answer.events.length === 0) watch.handler.onProgress?.(answer.revision)
    }
  }

  #onCreated(answer: WatchAnswer): void {
    const id = this.#uncreated.shift()
    const watch = id === undefined ? undefined : this.#watches.get(id)
    // The response for a refused watch has ID -1, so only the order shows which watch is meant.
    if (answer.watchId !== STREAM_WATCH_ID && answer.watchId !== id) {
      throw new GrpcError('Internal', `etcd created watch ${answer.watchId}, not watch ${id}`)
    }
    if (watch === undefined) return
    if (answer.canceled) this.#cancel(watch, answer)
    else watch.handler.onCreated?.(answer.revision)
  }

  #cancel(watch: Watch, answer: WatchAnswer): void {
    this.#watches.delete(watch.id)
    // etcd keeps a watch that compaction ended, and treats it as never synced. It would no longer
    // respond to progress requests on this stream. Canceling the watch removes it.
    if (answer.watchId !== STREAM_WATCH_ID) this.#stream.send(encodeWatchCancel(watch.id))
    this.#channel.recordReason(answer.cancelReason)
    watch.handler.onCanceled({
      reason: answer.cancelReason,
      compactRevision: answer.compactRevision,
    })
  }
}
