/** One resource's place in the feed: how far it has been told, and who waits for it to get further. */
import { systemTimers, type Timers } from '../lib/timers.ts'
import type { FeedEvent, Key, Revision } from './engine.ts'

export type FeedConsumer = {
  /** The events of this resource in one delivery, in order. A revision is never split over two calls. */
  readonly onEvents: (events: readonly FeedEvent[]) => void
  /** What happened after the last event told is lost. List again; events that follow are newer than the loss. */
  readonly onGap: () => void
  /** This is another database: nothing that was told or listed is true. */
  readonly onReset: () => void
}

/** Readers of one moment share a wait, and a timer; who comes later, or has less time, waits for itself. */
const SHARED_MS = 50

type Waiter = {
  readonly revision: Revision
  readonly untilMs: number
  readonly promise: Promise<boolean>
  readonly end: (reached: boolean) => void
}

export class Subscription {
  readonly prefix: Key
  readonly #consumer: FeedConsumer
  readonly #timers: Timers
  readonly #feedRevision: () => Revision
  readonly #monotonicMs: () => number
  readonly #onWait: () => void
  readonly #onEnd: () => void
  readonly #waiters: Waiter[] = []
  #revision: Revision
  #traffic = 0

  constructor(options: {
    readonly prefix: Key
    readonly consumer: FeedConsumer
    readonly revision: Revision
    readonly timers?: Timers
    /** What every subscription of the feed has been told: ten thousand of them are not moved one by one. */
    readonly feedRevision: () => Revision
    readonly monotonicMs: () => number
    readonly onWait: () => void
    readonly onEnd: () => void
  }) {
    this.prefix = options.prefix
    this.#consumer = options.consumer
    this.#revision = options.revision
    this.#timers = options.timers ?? systemTimers
    this.#feedRevision = options.feedRevision
    this.#monotonicMs = options.monotonicMs
    this.#onWait = options.onWait
    this.#onEnd = options.onEnd
  }

  /** The consumer has been told everything up to this revision. */
  get revision(): Revision {
    return Math.max(this.#revision, this.#feedRevision())
  }

  get isWaiting(): boolean {
    return this.#waiters.length > 0
  }

  /** True once everything up to this revision has been told; false if that takes longer than the time given. */
  reach(revision: Revision, timeoutMs: number): Promise<boolean> {
    if (this.revision >= revision) return Promise.resolve(true)
    const untilMs = this.#monotonicMs() + timeoutMs
    const same = this.#waiters.find(
      (waiter) => waiter.revision === revision && Math.abs(waiter.untilMs - untilMs) < SHARED_MS,
    )
    if (same !== undefined) return same.promise
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = this.#timers.after(timeoutMs, () => waiter.end(false))
    const waiter: Waiter = {
      revision,
      untilMs,
      promise,
      end: (reached) => {
        timer.close()
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
        resolve(reached)
      },
    }
    this.#waiters.push(waiter)
    this.#onWait()
    return promise
  }

  /** The consumer is told nothing more. */
  end(): void {
    this.giveUp()
    this.#onEnd()
  }

  // What follows is the feed's.

  /** Events that a stream opened again repeats are left out. */
  tell(events: readonly FeedEvent[]): void {
    this.#traffic += events.length
    const known = this.revision
    const news = (events[0]?.revision ?? 0) > known ? events : events.filter((event) => event.revision > known)
    const last = news.at(-1)
    if (last === undefined) return
    this.#consumer.onEvents(news)
    this.#revision = last.revision
    this.settle()
  }

  tellGap(revision: Revision): void {
    this.#consumer.onGap()
    this.#revision = revision
    this.settle()
  }

  /** What is waited for may never come. */
  tellReset(revision: Revision): void {
    this.#revision = revision
    this.giveUp()
    this.#consumer.onReset()
  }

  /** Ends the waits that are over. */
  settle(): void {
    if (this.#waiters.length === 0) return
    const { revision } = this
    for (const waiter of this.#waiters.filter((one) => one.revision <= revision)) waiter.end(true)
  }

  giveUp(): void {
    for (const waiter of [...this.#waiters]) waiter.end(false)
  }

  /** How many events came since the last plan; half of them count again in the next. */
  takeTraffic(): number {
    const traffic = this.#traffic
    this.#traffic = traffic >> 1
    return traffic
  }
}
