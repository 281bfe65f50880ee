/**
 * Decrypts the events of a resource before they reach the cache, in order. Events that can be
 * decrypted synchronously are delivered in the same tick of the event loop, until the time slice is
 * used up. Other events are queued, for example until a KMS plugin responds, and all later events
 * wait behind them.
 */
import { Deque } from '../lib/collections/deque.ts'
import { Slices } from '../lib/scheduling/slices.ts'
import { withTimeout, type Time } from '../lib/time/timers.ts'
import type { FeedEvent, Revision } from './engine.ts'
import { StorageError } from './errors.ts'
import type { Transformer } from './transform.ts'

/**
 * Maximum size of the queued events. If there are more, they are dropped and the resource is listed
 * again.
 */
const HELD_BYTES_MAX = 64 << 20
/**
 * Maximum number of events whose decryption is started while an earlier event waits for a KMS
 * plugin.
 */
const ASKED_MAX = 32
/** Estimated memory of an event in addition to its value. */
const EVENT_BYTES = 200

/** An event with the decrypted value, which is the value that the server wrote. */
export type OpenedEvent = FeedEvent & {
  /** The error, if the value cannot be decrypted. `value` is then the stored (encrypted) value. */
  readonly fault?: StorageError
}

export type OpenedEventsOptions = {
  readonly transformer: Transformer
  readonly time: Time
  /** Delivers events. All events of a revision are in one call. */
  readonly onEvents: (events: readonly OpenedEvent[]) => void
  /**
   * Called if events were lost because the KMS plugin does not respond or too many events were
   * queued.
   */
  readonly onGap: () => void
}

type OpeningEvent = OpenedEvent | Promise<OpenedEvent>

type HeldEvent = { readonly event: FeedEvent; opening: OpeningEvent | undefined }

export class OpenedEvents {
  readonly #options: OpenedEventsOptions
  readonly #held = new Deque<HeldEvent>()
  #heldBytes = 0
  #isReleasing = false
  /** Incremented when the queued events are dropped. */
  #generation = 0
  #moved = Promise.withResolvers<void>()

  constructor(options: OpenedEventsOptions) {
    this.#options = options
  }

  /** The revision of the first queued event, or undefined if no event is queued. */
  get heldFrom(): Revision | undefined {
    return this.#held.at(0)?.event.revision
  }

  push(events: readonly FeedEvent[]): void {
    if (this.#held.length > 0) return this.#hold(events, 0)
    const slices = new Slices(this.#options.time)
    let opened: OpenedEvent[] | undefined
    let groupStart = 0
    for (const [at, event] of events.entries()) {
      if (event.revision !== events[groupStart]?.revision) {
        groupStart = at
        if (slices.isOver) return this.#passSome(events, opened, at)
      }
      const one = this.#openNow(event)
      if (one === undefined || one instanceof Promise) {
        return this.#passSome(events, opened, groupStart, { event, opening: one })
      }
      // Most resources are not encrypted, so their events are passed on without a copy.
      if (one !== event) opened ??= events.slice(0, at)
      opened?.push(one)
    }
    this.#options.onEvents(opened ?? events)
  }

  /**
   * Resolves to true when no event up to this revision is queued, or to false after the timeout.
   */
  async reach(revision: Revision, timeoutMs: number): Promise<boolean> {
    const { time } = this.#options
    const untilMs = time.monotonicMs() + timeoutMs
    while ((this.heldFrom ?? Number.POSITIVE_INFINITY) <= revision) {
      const leftMs = untilMs - time.monotonicMs()
      if (leftMs <= 0) return false
      await withTimeout(this.#moved.promise, leftMs, { onTimeout: () => undefined, timers: time })
    }
    return true
  }

  /** Drops the queued events. */
  clear(): void {
    this.#generation++
    this.#held.clear()
    this.#heldBytes = 0
    this.#isReleasing = false
    this.#move()
  }

  #passSome(
    events: readonly FeedEvent[],
    opened: readonly OpenedEvent[] | undefined,
    count: number,
    asked?: HeldEvent,
  ): void {
    // Queue the remaining events first, so that `heldFrom` is correct while the consumer handles
    // the delivered ones.
    this.#hold(events, count, asked)
    if (count > 0) this.#options.onEvents((opened ?? events).slice(0, count))
  }

  /**
   * Queues the events from index `from` on. `asked` is one of them whose decryption has already
   * started.
   */
  #hold(events: readonly FeedEvent[], from: number, asked?: HeldEvent): void {
    for (const event of events.slice(from)) {
      const opening = event === asked?.event ? asked.opening : undefined
      // Copy the value, because the caller reuses the memory of received bytes.
      this.#held.push({ event: { ...event, value: Buffer.from(event.value) }, opening })
      this.#heldBytes += event.value.length + EVENT_BYTES
    }
    if (this.#heldBytes > HELD_BYTES_MAX) return this.#lose()
    if (this.#isReleasing) return
    this.#isReleasing = true
    void this.#release()
  }

  /**
   * Reports the gap before dropping the events, so that `heldFrom` is still correct when the gap is
   * reported.
   */
  #lose(): void {
    this.#options.onGap()
    this.clear()
  }

  /**
   * Delivers the queued events. Never rejects: after an unexpected error, the resource is listed
   * again.
   */
  async #release(): Promise<void> {
    const generation = this.#generation
    const slices = new Slices(this.#options.time, { isShared: true })
    while (this.#held.length > 0) {
      await slices.turn()
      if (generation !== this.#generation) return
      let ready: OpenedEvent[]
      try {
        ready = await this.#ready(slices)
      } catch {
        if (generation === this.#generation) this.#lose()
        return
      }
      if (generation !== this.#generation) return
      this.#options.onEvents(ready)
      if (generation !== this.#generation) return
      this.#forget(ready.length)
    }
    this.#isReleasing = false
  }

  #forget(count: number): void {
    for (let left = count; left > 0; left--) {
      this.#heldBytes -= (this.#held.shift()?.event.value.length ?? 0) + EVENT_BYTES
    }
    this.#move()
  }

  /**
   * Returns the events of one or more complete revisions, beginning with the first queued event.
   */
  async #ready(slices: Slices): Promise<OpenedEvent[]> {
    const ready: OpenedEvent[] = []
    for (let at = 0; at < this.#held.length; ) {
      const group: OpeningEvent[] = []
      const revision = this.#held.at(at)?.event.revision
      for (; this.#held.at(at)?.event.revision === revision && at < this.#held.length; at++)
        group.push(this.#opening(at))
      const waits = group.some((one) => one instanceof Promise)
      if (waits && ready.length > 0) break
      if (waits) this.#askAhead(at)
      // oxlint-disable-next-line no-await-in-loop -- events stay in order
      for (const one of group) ready.push(one instanceof Promise ? await one : one)
      if (waits || slices.isOver) break
    }
    return ready
  }

  #askAhead(from: number): void {
    for (let at = from; at < Math.min(this.#held.length, from + ASKED_MAX); at++)
      void this.#opening(at)
  }

  #opening(at: number): OpeningEvent {
    const held = this.#held.at(at)
    if (held === undefined) throw new Error('broken invariant: the event is held')
    held.opening ??= this.#open(held.event)
    return held.opening
  }

  /**
   * Decrypts an event. Returns undefined if this is not possible now, so that the event must be
   * queued.
   */
  #openNow(event: FeedEvent): OpeningEvent | undefined {
    try {
      return this.#open(event)
    } catch {
      // The KMS plugin does not respond. When the event is taken from the queue, decryption is
      // tried again.
      return undefined
    }
  }

  /** Decrypts an event. Throws if this is not possible now. */
  #open(event: FeedEvent): OpeningEvent {
    if (event.type === 'delete') return event
    const { key, value } = event
    const { transformer } = this.#options
    try {
      const own = transformer.takeOwn?.(key, value)
      if (own !== undefined) return { ...event, value: own }
      const plain = transformer.fromStorage(key, value)
      if (!(plain instanceof Promise))
        return plain.value === value ? event : { ...event, value: plain.value }
      const opening = plain.then(
        (opened): OpenedEvent => ({ ...event, value: opened.value }),
        (error: unknown) => unreadable(event, error),
      )
      // Prevent an unhandled rejection, because the promise may be awaited much later or never.
      opening.catch(() => undefined)
      return opening
    } catch (error) {
      return unreadable(event, error)
    }
  }

  #move(): void {
    this.#moved.resolve()
    this.#moved = Promise.withResolvers()
  }
}

function unreadable(event: FeedEvent, error: unknown): OpenedEvent {
  if (error instanceof StorageError && error.code === 'corrupt') return { ...event, fault: error }
  throw error
}
