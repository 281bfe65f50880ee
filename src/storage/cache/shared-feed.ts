/**
 * The feed, decrypted, with several consumers for one prefix: a kind that is served in two versions, such as events, is in memory once for
 * each version that clients request.
 */
import type { Time } from '../../lib/timers.ts'
import type { Key, Revision } from '../engine.ts'
import type { Feed } from '../feed.ts'
import { type OpenedEvent, OpenedEvents } from '../opened-events.ts'
import type { FeedConsumer, Subscription } from '../subscription.ts'
import type { Transformer } from '../transform.ts'

export type Following = Pick<Subscription, 'revision' | 'reach' | 'end'>

type Consumer = FeedConsumer<OpenedEvent>

type Shared = {
  readonly consumers: Set<Consumer>
  readonly subscription: Subscription
  readonly opened: OpenedEvents
}

export type SharedFeedOptions = { readonly transformer: Transformer; readonly time: Time }

export class SharedFeed {
  readonly #feed: Feed
  readonly #options: SharedFeedOptions
  readonly #shared = new Map<Key, Shared>()

  constructor(feed: Feed, options: SharedFeedOptions) {
    this.#feed = feed
    this.#options = options
  }

  /** A consumer that joins late does not get earlier events: it must list after it has joined. */
  subscribe(prefix: Key, consumer: Consumer): Following {
    const shared = this.#shared.get(prefix) ?? this.#begin(prefix)
    const { consumers, subscription, opened } = shared
    const { monotonicMs } = this.#options.time
    consumers.add(consumer)
    return {
      get revision(): Revision {
        const { heldFrom } = opened
        return heldFrom === undefined
          ? subscription.revision
          : Math.min(subscription.revision, heldFrom - 1)
      },
      reach: async (revision, timeoutMs) => {
        const untilMs = monotonicMs() + timeoutMs
        return (
          (await subscription.reach(revision, timeoutMs)) &&
          opened.reach(revision, untilMs - monotonicMs())
        )
      },
      end: () => {
        consumers.delete(consumer)
        if (consumers.size > 0 || this.#shared.get(prefix) !== shared) return
        this.#shared.delete(prefix)
        subscription.end()
        opened.clear()
      },
    }
  }

  prove(): Promise<Revision> {
    return this.#feed.prove()
  }

  get isSettled(): boolean {
    return this.#feed.isSettled
  }

  get known(): Revision {
    return this.#feed.known
  }

  noteWrite(revision: Revision): void {
    this.#feed.noteWrite(revision)
  }

  noteRead(revision: Revision, known: Revision): void {
    this.#feed.noteRead(revision, known)
  }

  isLost(revision: Revision, current: Revision): boolean {
    return this.#feed.isLost(revision, current)
  }

  #begin(prefix: Key): Shared {
    const consumers = new Set<Consumer>()
    const onGap = (): void => {
      for (const consumer of consumers) consumer.onGap()
    }
    const opened = new OpenedEvents({
      ...this.#options,
      onEvents: (events) => {
        for (const consumer of consumers) consumer.onEvents(events)
      },
      onGap,
    })
    const subscription = this.#feed.subscribe(prefix, {
      onEvents: (events) => opened.push(events),
      onGap: () => {
        onGap()
        opened.clear()
      },
      onReset: () => {
        opened.clear()
        for (const consumer of consumers) consumer.onReset()
      },
    })
    const shared = { consumers, subscription, opened }
    this.#shared.set(prefix, shared)
    return shared
  }
}
