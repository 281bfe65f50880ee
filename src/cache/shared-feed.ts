/**
 * The feed, with several consumers for one prefix: a kind that is served in two versions, such as events, is in memory once for each
 * version that clients request.
 */
import type { Key, Revision } from '../storage/engine.ts'
import type { Feed } from '../storage/feed.ts'
import type { FeedConsumer, Subscription } from '../storage/subscription.ts'

export type Following = Pick<Subscription, 'revision' | 'reach' | 'end'>

type Shared = { readonly consumers: Set<FeedConsumer>; readonly subscription: Subscription }

export class SharedFeed {
  readonly #feed: Feed
  readonly #shared = new Map<Key, Shared>()

  constructor(feed: Feed) {
    this.#feed = feed
  }

  /** A consumer that joins late does not get earlier events: it must list after it has joined. */
  subscribe(prefix: Key, consumer: FeedConsumer): Following {
    const shared = this.#shared.get(prefix) ?? this.#begin(prefix)
    const { consumers, subscription } = shared
    consumers.add(consumer)
    return {
      get revision(): Revision {
        return subscription.revision
      },
      reach: (revision, timeoutMs) => subscription.reach(revision, timeoutMs),
      end: () => {
        consumers.delete(consumer)
        if (consumers.size > 0 || this.#shared.get(prefix) !== shared) return
        this.#shared.delete(prefix)
        subscription.end()
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
    const consumers = new Set<FeedConsumer>()
    const subscription = this.#feed.subscribe(prefix, {
      onEvents: (events) => {
        for (const consumer of consumers) consumer.onEvents(events)
      },
      onGap: () => {
        for (const consumer of consumers) consumer.onGap()
      },
      onReset: () => {
        for (const consumer of consumers) consumer.onReset()
      },
    })
    const shared = { consumers, subscription }
    this.#shared.set(prefix, shared)
    return shared
  }
}
