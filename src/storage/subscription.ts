/** One resource's position in the feed: up to which revision its events were delivered, and the readers that wait for a later one. */
import { systemTimers, type Timers } from '../lib/timers.ts'
import type { FeedEvent, Key, Revision } from './engine.ts'

export type FeedConsumer<Event = FeedEvent> = {
  /** The events of this resource in one delivery, in order. A revision is never split over two calls. */
  readonly onEvents: (events: readonly Event[]) => void
  /** Events after the last delivered one are lost. List again; the events that follow are newer than the gap. */
  readonly onGap: () => void
  /** The database is another one: nothing that was delivered or listed is valid. */
  readonly onReset: () => void
}

/** Readers that wait for the same revision, with deadlines less than this apart, share a wait and its timer. */
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
    /**
     * The revision that all subscriptions have reached. It is the feed's, so that ten thousand subscriptions need not be updated
     * one by one.
     */
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

  /** All events up to this revision have been delivered to the consumer. */
  get revision(): Revision {
    return Math.max(this.#revision, this.#feedRevision())
  }

  get isWaiting(): boolean {
    return this.#waiters.length > 0
  }

  /** True once all events up to this revision have been delivered; false after the timeout, or when the subscription ends. */
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

  /** The consumer gets no more calls. */
  end(): void {
    this.giveUp()
    this.#onEnd()
  }

  // The methods below are for the feed only.

  /** Skips events that a reopened stream repeats. */
  tell(events: readonly FeedEvent[]): void {
    this.#traffic += events.length
    const known = this.revision
    const news =
      (events[0]?.revision ?? 0) > known ? events : events.filter((event) => event.revision > known)
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

  /** Ends all waits: the new database may never reach the revisions that they are for. */
  tellReset(revision: Revision): void {
    this.#revision = revision
    this.giveUp()
    this.#consumer.onReset()
  }

  /** Resolves the waits whose revision is reached. */
  settle(): void {
    if (this.#waiters.length === 0) return
    const { revision } = this
    for (const waiter of this.#waiters.filter((one) => one.revision <= revision)) waiter.end(true)
  }

  giveUp(): void {
    for (const waiter of [...this.#waiters]) waiter.end(false)
  }

  /** A decaying count of events for the plan of ranges: half of it counts again in the next plan. */
  takeTraffic(): number {
    const traffic = this.#traffic
    this.#traffic = traffic >> 1
    return traffic
  }
}
