/**
 * Watch streams. One stream carries many watches. The client chooses the ID of each watch.
 *
 * etcd responds to `requestProgress` with one message for the whole stream (watch ID -1). It
 * responds only if every watch of the stream is synced at that moment. Otherwise it never responds
 * to that request, so callers that need a response must repeat the request.
 *
 * A stream is not resumed here. Its reader knows the last revision that it has received, and opens
 * another stream from that revision.
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
 * Receives the events of one watch. All calls are synchronous and in the order of the stream. Keys
 * and values of events are views of received bytes.
 */
export type WatchHandler = {
  readonly onCreated?: (revision: number) => void
  /**
   * Delivers events, ordered by revision. All events of one revision are in one call, even if etcd
   * has sent them in fragments. `headerRevision` does not mean that all events up to this revision
   * have been delivered.
   */
  readonly onEvents: (events: readonly EtcdEvent[], headerRevision: number) => void
  /** Reports that all events of this watch up to and including this revision were delivered. */
  readonly onProgress?: (revision: number) => void
  /**
   * Called when the watch has ended, but not after cancel(). The stream continues. If the requested
   * history has been compacted, `compactRevision` is above 0.
   */
  readonly onCanceled: (end: { readonly reason: string; readonly compactRevision: number }) => void
}

export type WatchStreamHandler = {
  /**
   * Reports that all events of all watches up to and including this revision were delivered. If
   * this handler is defined, only members with reliable progress notifications are used.
   */
  readonly onProgressAll?: (revision: number) => void
  /**
   * Called exactly once, when the stream has ended for any reason. After close(), the error is
   * undefined.
   */
  readonly onEnd: (error: GrpcError | undefined) => void
}

export type WatchOpen = {
  /**
   * Ends the stream when the member loses its leader, because the member would not send any more
   * events.
   */
  readonly requireLeader?: boolean
  /** Prefers an endpoint that the previous stream did not use. */
  readonly away?: boolean
} & WatchStreamHandler

export type WatchHandle = { readonly cancel: () => void }

/**
 * The watch ID in messages for the whole stream, and in responses for watches that etcd refused to
 * create.
 */
const STREAM_WATCH_ID = -1

export class Watches {
  readonly #channel: Channel

  constructor(channel: Channel) {
    this.#channel = channel
  }

  /** Opens a stream and returns immediately. Requests are queued until the stream is connected. */
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
  // Watches that etcd has not created yet, in the order of the requests. etcd responds in the same
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
   * Requests progress. etcd responds only if all watches of the stream are synced. `onProgressAll`
   * is then called.
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
      // Ignore the response if its watch is unknown, because events of a canceled watch can still
      // arrive.
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
    // The response for a refused watch has ID -1, so the watch can be identified only by the order
    // of the responses.
    if (answer.watchId !== STREAM_WATCH_ID && answer.watchId !== id) {
      throw new GrpcError('Internal', `etcd created watch ${answer.watchId}, not watch ${id}`)
    }
    if (watch === undefined) return
    if (answer.canceled) this.#cancel(watch, answer)
    else watch.handler.onCreated?.(answer.revision)
  }

  #cancel(watch: Watch, answer: WatchAnswer): void {
    this.#watches.delete(watch.id)
    // etcd keeps a watch that ended because of a compaction, and treats it as never synced. As long
    // as such a watch exists, etcd does not respond to progress requests on this stream. Canceling
    // the watch removes it.
    if (answer.watchId !== STREAM_WATCH_ID) this.#stream.send(encodeWatchCancel(watch.id))
    this.#channel.recordReason(answer.cancelReason)
    watch.handler.onCanceled({
      reason: answer.cancelReason,
      compactRevision: answer.compactRevision,
    })
  }
}
