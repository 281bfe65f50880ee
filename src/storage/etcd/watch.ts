/**
 * Watch streams. One stream carries many watches; etcd answers for each of them by an ID that we
 * choose.
 *
 * Progress: etcd answers `requestProgress` with one message for the whole stream (watch ID -1), and
 * only if every watch of the stream is synced at that moment; otherwise it does not answer at all,
 * now or later. Callers that need an answer request it again.
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
 * All calls are synchronous, in the order of the stream. Keys and values of events are borrowed.
 */
export type WatchHandler = {
  readonly onCreated?: (revision: number) => void
  /**
   * Events in the order of their revisions; all events of one revision are in one call, fragments
   * joined. `headerRevision` says nothing about other watches, nor that all events up to it have
   * been delivered.
   */
  readonly onEvents: (events: readonly EtcdEvent[], headerRevision: number) => void
  /** All events of this watch up to and including this revision have been delivered. */
  readonly onProgress?: (revision: number) => void
  /**
   * The watch has ended, the stream goes on. `compactRevision` is above 0 if the requested history
   * is compacted. Not called after cancel().
   */
  readonly onCanceled: (end: { readonly reason: string; readonly compactRevision: number }) => void
}

export type WatchStreamHandler = {
  /**
   * All events of all watches up to and including this revision have been delivered. With this
   * handler only members with reliable progress are used.
   */
  readonly onProgressAll?: (revision: number) => void
  /** Called exactly once, whatever ends the stream; without an error after close(). */
  readonly onEnd: (error: GrpcError | undefined) => void
}

export type WatchOpen = {
  /** End the stream when the member loses its leader, since it would then fall silent. */
  readonly requireLeader?: boolean
  /** Prefer another endpoint than the last stream's. */
  readonly away?: boolean
} & WatchStreamHandler

export type WatchHandle = { readonly cancel: () => void }

/** The watch ID of answers for the whole stream, and of watches that etcd refused to create. */
const STREAM_WATCH_ID = -1

export class Watches {
  readonly #channel: Channel

  constructor(channel: Channel) {
    this.#channel = channel
  }

  /** Returns at once; requests to the stream wait for the connection. */
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
  // Watches that etcd has not created yet, in the order of the requests, which is the order of its
  // answers.
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

  /** Answered with onProgressAll, or not at all: see the top of this file. */
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
      // Events of a cancelled watch may still be under way.
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
    // Refused watches are answered with id -1, so only the order tells which one is meant.
    if (answer.watchId !== STREAM_WATCH_ID && answer.watchId !== id) {
      throw new GrpcError('Internal', `watch ${answer.watchId} was created when ${id} was to come`)
    }
    if (watch === undefined) return
    if (answer.canceled) this.#cancel(watch, answer)
    else watch.handler.onCreated?.(answer.revision)
  }

  #cancel(watch: Watch, answer: WatchAnswer): void {
    this.#watches.delete(watch.id)
    // etcd still counts a watch ended by compaction, as one that is never synced, and would not
    // answer a progress request of this stream again. Cancelling the watch removes it.
    if (answer.watchId !== STREAM_WATCH_ID) this.#stream.send(encodeWatchCancel(watch.id))
    this.#channel.recordReason(answer.cancelReason)
    watch.handler.onCanceled({
      reason: answer.cancelReason,
      compactRevision: answer.compactRevision,
    })
  }
}
