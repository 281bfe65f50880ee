/**
 * The events of one prefix. A subscription decrypts the events and delivers them to its consumers.
 * It also tracks the revision up to which they were delivered, and the readers that wait for a
 * later revision. A resource that is served in two API groups, such as events, has one consumer for
 * each group.
 */
import type { Time } from '../lib/time/timers.ts'
import type { FeedEvent, Key, Revision } from './engine.ts'
import { type OpenedEvent, OpenedEvents } from './opened-events.ts'
import type { Transformer } from './transform.ts'

export type FeedConsumer = {
  /**
   * Delivers events of this resource, in order. All events of one revision are delivered in one
   * call.
   */
  readonly onEvents: (events: readonly OpenedEvent[]) => void
  /**
   * Called when events after the last delivered one were lost. The consumer must list again. All
   * events that are delivered later are newer than the lost ones.
   */
  readonly onGap: () => void
  /** Called when the database was replaced. All delivered events and lists are then invalid. */
  readonly onReset: () => void
}

/**
 * Readers that wait for the same revision share one promise and one timer if their deadlines differ
 * by less than this.
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
   * Returns the revision that all subscriptions have reached. It is stored once, in the event feed,
   * so that the event feed does not have to update ten thousand subscriptions one by one.
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

  /** Adds a consumer. It does not get earlier events, so it must list after this call. */
  join(consumer: FeedConsumer): void {
    this.#consumers.add(consumer)
  }

  /**
   * Removes a consumer, which is not called any more. The subscription ends with its last consumer.
   */
  leave(consumer: FeedConsumer): void {
    if (!this.#consumers.delete(consumer) || this.#consumers.size > 0) return
    this.giveUp()
    this.#onEnd()
    this.#decrypted.clear()
  }

  /** The revision up to which all events have been delivered to the consumers. */
  get revision(): Revision {
    const { heldFrom } = this.#decrypted
    return heldFrom === undefined ? this.#received : Math.min(this.#received, heldFrom - 1)
  }

  /** The revision up to which all events have been received. Some may still wait for decryption. */
  get #received(): Revision {
    return Math.max(this.#revision, this.#feedRevision())
  }

  get isWaiting(): boolean {
    return this.#waiters.length > 0
  }

  /**
   * Resolves to true when all events up to this revision have been delivered. Resolves to false
   * after the timeout, or when the subscription ends.
   */
  async reach(revision: Revision, timeoutMs: number): Promise<boolean> {
    const { monotonicMs } = this.#time
    const untilMs = monotonicMs() + timeoutMs
    return (
      (await this.receive(revision, timeoutMs)) &&
      this.#decrypted.reach(revision, untilMs - monotonicMs())
    )
  }

  /** Like `reach`, but does not wait until the last events have been decrypted. */
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

  // Only the event feed calls the following methods.

  /** Delivers events. Skips events that a reopened stream repeats. */
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

  /** Ends all waits, because the new database may never reach their revisions. */
  emitReset(revision: Revision): void {
    this.#revision = revision
    this.giveUp()
    this.#decrypted.clear()
    for (const consumer of this.#consumers) consumer.onReset()
  }

  /** Resolves the waits whose revision has been reached. */
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
   * Returns the number of events so far, which determines how the keys are divided into ranges.
   * Half of this number is included in the result of the next call.
   */
  takeTraffic(): number {
    const traffic = this.#traffic
    this.#traffic = traffic >> 1
    return traffic
  }
}
