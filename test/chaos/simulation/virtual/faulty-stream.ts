/**
 * A stream on a faulty network. Messages are delayed or held back, or the stream ends, but messages
 * always stay in order.
 */
import { Deque } from '../../../../src/lib/collections/deque.ts'
import type { Timers } from '../../../../src/lib/time/timers.ts'
import type { FeedListener, FeedStream, Revision } from '../../../../src/storage/engine.ts'
import { StorageError } from '../../../../src/storage/errors.ts'
import type { EngineCondition } from './faulty-engine.ts'

export type FaultyStreamOptions = {
  readonly time: Timers
  readonly sink: FeedListener
  readonly open: (sink: FeedListener) => FeedStream
  readonly latency: () => number
  readonly weather: () => EngineCondition
  /** Called when a message reaches the replica. */
  readonly onTold: (line: string) => void
  readonly onClosed: () => void
}

type Message = { readonly line: string; readonly tell: () => void }

export class FaultyStream implements FeedStream {
  readonly #options: FaultyStreamOptions
  readonly #queue = new Deque<Message>()
  #inner: FeedStream | undefined
  #isProgressWanted = false
  #isTravelling = false
  #isEnded = false
  /**
   * Revision of the last progress notification. In the condition `stale`, the stream repeats this
   * revision.
   */
  #progress: Revision = 0

  constructor(options: FaultyStreamOptions) {
    this.#options = options
    options.time.after(options.latency(), () => this.#open())
  }

  requestProgress(): void {
    const { time, latency } = this.#options
    time.after(latency(), () => this.#ask())
  }

  close(): void {
    this.#end(undefined)
  }

  break(cause: Error): void {
    this.#end(cause)
  }

  /** Called when the condition of the network changes. Delivers messages that were held back. */
  flush(): void {
    if (this.#inner === undefined) this.#open()
    this.#travel()
  }

  #open(): void {
    if (this.#isEnded || this.#inner !== undefined) return
    const weather = this.#options.weather()
    if (weather === 'hung') return
    if (weather === 'down') return this.#end(new StorageError('unavailable', 'connection refused'))
    if (weather === 'leaderless')
      return this.#end(new StorageError('unavailable', 'etcdserver: no leader'))
    const { sink } = this.#options
    this.#inner = this.#options.open({
      onEvents: (range, events) => {
        const revisions = events.map(({ revision }) => revision).join(' ')
        this.#send(`events ${range}: ${revisions}`, () => sink.onEvents(range, events))
      },
      onProgress: (revision) =>
        this.#send(`progress ${revision}`, () => {
          this.#progress = revision
          sink.onProgress(revision)
        }),
      onCompacted: (range, oldest) =>
        this.#send(`compacted ${range} ${oldest}`, () => sink.onCompacted(range, oldest)),
      onEnd: (cause) => this.#end(cause),
    })
    if (this.#isProgressWanted) this.#inner.requestProgress()
  }

  #ask(): void {
    const weather = this.#options.weather()
    if (this.#isEnded) return
    if (this.#inner === undefined) this.#isProgressWanted = true
    else if (weather === 'well') this.#inner.requestProgress()
    else if (weather === 'stale' && this.#progress > 0) {
      const revision = this.#progress
      this.#options.onTold(`progress ${revision} again`)
      this.#options.sink.onProgress(revision)
    }
  }

  #send(line: string, report: () => void): void {
    if (this.#isEnded) return
    this.#queue.push({ line, tell: report })
    this.#travel()
  }

  /** Delivers one message after the other. */
  #travel(): void {
    if (this.#isTravelling || this.#queue.length === 0 || this.#isEnded) return
    this.#isTravelling = true
    this.#options.time.after(this.#options.latency(), () => {
      this.#isTravelling = false
      if (this.#isEnded || this.#options.weather() !== 'well') return
      const message = this.#queue.shift()
      if (message !== undefined) {
        this.#options.onTold(message.line)
        message.tell()
      }
      this.#travel()
    })
  }

  #end(cause: Error | undefined): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#inner?.close()
    this.#options.onClosed()
    this.#options.sink.onEnd(cause)
  }
}
