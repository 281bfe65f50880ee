/**
 * The events of one prefix: decrypts them and delivers them to the consumers. Also has the position
 * in the feed up to which they were delivered, and the readers that wait for a later one. A kind
 * that is served in two versions, such as events, has a consumer for each.
 */
import type { Time } from '../lib/time/timers.ts'
import type { FeedEvent, Key, Revision } from './engine.ts'
import { type OpenedEvent, OpenedEvents } from './opened-events.ts'
import type { Transformer } from './transform.ts'

export type FeedConsumer = {
  /**
   * The events of this resource in one delivery, in order. A revision is never split over two
   * calls.
   */
  readonly onEvents: (events: readonly OpenedEvent[]) => void
  /**
   * Events after the last delivered one are lost. List again; the events that follow are newer than
   * the gap.
   */
  readonly onGap: () => void
  /** The database is another one: nothing that was delivered or listed is valid. */
  readonly onReset: () => void
}

/**
 * Readers that wait for the same revision, with deadlines less than this apart, share a wait and
 * its timer.
 */
const SHARED_MS = 50

type Waiter = {
  readonly revision: Revision
  readonly untilMs: number
  readonly promise: Promise<boolean>
  readonly end: (reached: boolean) => void
}

export type SubscriptionOptions = {
  readonly prefix: Key
  readonly revision: Revision
  readonly transformer: Transformer
  readonly time: Time
  /**
   * The revision that all subscriptions have reached. It is the feed's, so that ten thousand
   * subscriptions need not be updated one by one.
   */
  readonly feedRevision: () => Revision
  readonly onWait: () => void
  readonly onEnd: () => void
}

export class Subscription {
  readonly prefix: Key
  readonly #consumers = new Set<FeedConsumer>()
  readonly #decrypted: OpenedEvents
  readonly #time: Time
  readonly #feedRevision: () => Revision
  readonly #onWait: () => void
  readonly #onEnd: () => void
  readonly #waiters: Waiter[] = []
  #revision: Revision
  #traffic = 0

  constructor(options: SubscriptionOptions) {
    const { transformer, time } = options
    this.prefix = options.prefix
    this.#revision = options.revision
    this.#time = time
    this.#feedRevision = options.feedRevision
    this.#onWait = options.onWait
    this.#onEnd = options.onEnd
    this.#decrypted = new OpenedEvents({
      transformer,
      time,
      onEvents: (events) => {
        for (const consumer of this.#consumers) consumer.onEvents(events)
      },
      onGap: () => this.#reportGap(),
    })
  }

  /** A consumer that joins late does not get earlier events: it must list after it has joined. */
  join(consumer: FeedConsumer): void {
    this.#consumers.add(consumer)
  }

  /** The consumer gets no more calls. The subscription ends with its last consumer. */
  leave(consumer: FeedConsumer): void {
    if (!this.#consumers.delete(consumer) || this.#consumers.size > 0) return
    this.giveUp()
    this.#onEnd()
    this.#decrypted.clear()
  }

  /** All events up to this revision have been delivered to the consumers. */
  get revision(): Revision {
    const { heldFrom } = this.#decrypted
    return heldFrom === undefined ? this.#received : Math.min(this.#received, heldFrom - 1)
  }

  /**
   * All events up to this revision have been received; some of them may still be being decrypted.
   */
  get #received(): Revision {
    return Math.max(this.#revision, this.#feedRevision())
  }

  get isWaiting(): boolean {
    return this.#waiters.length > 0
  }

  /**
   * True once all events up to this revision have been delivered; false after the timeout, or when
   * the subscription ends.
   */
  async reach(revision: Revision, timeoutMs: number): Promise<boolean> {
    const { monotonicMs } = this.#time
    const untilMs = monotonicMs() + timeoutMs
    return (
      (await this.receive(revision, timeoutMs)) &&
      this.#decrypted.reach(revision, untilMs - monotonicMs())
    )
  }

  /** Like `reach`, but the last events may still be being decrypted. */
  receive(revision: Revision, timeoutMs: number): Promise<boolean> {
    if (this.#received >= revision) return Promise.resolve(true)
    const untilMs = this.#time.monotonicMs() + timeoutMs
    const same = this.#waiters.find(
      (waiter) => waiter.revision === revision && Math.abs(waiter.untilMs - untilMs) < SHARED_MS,
    )
    if (same !== undefined) return same.promise
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = this.#time.after(timeoutMs, () => waiter.end(false))
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

  // The methods below are for the feed only.

  /** Skips events that a reopened stream repeats. */
  emit(events: readonly FeedEvent[]): void {
    this.#traffic += events.length
    const known = this.#received
    const news =
      (events[0]?.revision ?? 0) > known ? events : events.filter((event) => event.revision > known)
    const last = news.at(-1)
    if (last === undefined) return
    this.#decrypted.push(news)
    this.#revision = last.revision
    this.settle()
  }

  emitGap(revision: Revision): void {
    this.#reportGap()
    this.#decrypted.clear()
    this.#revision = revision
    this.settle()
  }

  /** Ends all waits: the new database may never reach the revisions that they are for. */
  emitReset(revision: Revision): void {
    this.#revision = revision
    this.giveUp()
    this.#decrypted.clear()
    for (const consumer of this.#consumers) consumer.onReset()
  }

  /** Resolves the waits whose revision is reached. */
  settle(): void {
    if (this.#waiters.length === 0) return
    const revision = this.#received
    for (const waiter of this.#waiters.filter((one) => one.revision <= revision)) waiter.end(true)
  }

  giveUp(): void {
    for (const waiter of [...this.#waiters]) waiter.end(false)
  }

  #reportGap(): void {
    for (const consumer of this.#consumers) consumer.onGap()
  }

  /**
   * A decaying count of events for the plan of ranges: half of it counts again in the next plan.
   */
  takeTraffic(): number {
    const traffic = this.#traffic
    this.#traffic = traffic >> 1
    return traffic
  }
}
