/**
 * A watcher is a position among the events of a resource. It has no buffer: the events that it has
 * not taken yet are in the event ring, whose size is limited and which all watchers share. If a
 * watcher is so slow that its position is evicted, it is closed. It never delays other watchers.
 *
 * States: replaying (the initial objects, or events from before the event ring), live, and closed
 * with a reason.
 */
import type { ApiError } from '../../api/errors.ts'
import type { Timers } from '../../lib/time/timers.ts'
import type { Revision } from '../engine.ts'
import type { KeyRange } from '../keys.ts'
import { type ObjectChange, InitialEvent, type WatchEvent } from './event.ts'
import { type EvictionQueue, SWEEPS_KEPT } from './eviction-queue.ts'
import { type Item, LOOK_BYTES, type Matches } from './item.ts'
import type { Ring } from './ring.ts'

const none: readonly ObjectChange[] = []
const nothing = (): void => undefined

/**
 * Maximum cost of one `take`. It is enough to fill a socket's buffer, and takes at most one or two
 * milliseconds.
 */
const TAKE_BYTES = 256 << 10
/**
 * Maximum size of the initial objects in one `take`, apart from the last one. They are encoded for
 * this watcher alone, so a client that does not read keeps this much in memory.
 */
const INITIAL_BYTES = 64 << 10

/**
 * Returns the cost of matching an item. An item without encoded labels and fields must be decoded.
 * If an item has many labels, all of its encoded labels and fields are read.
 */
function lookCost(item: Item, { matches }: WatchFilter): number {
  if (matches === undefined) return LOOK_BYTES
  const { lookBytes = LOOK_BYTES } = matches
  return item.hasFacts ? Math.max(lookBytes, item.tailBytes) : lookBytes + item.length
}

/**
 * Reason why a watcher was closed. 'gap' means that events were lost before they reached the cache.
 */
export type CloseReason = 'caller' | 'too-slow' | 'gap' | 'shutdown'

/**
 * The state from which a watcher starts. It is created in the same tick of the event loop in which
 * the watcher joins the resource. Thus no event is lost or duplicated.
 */
export type WatchStart = {
  /** Objects to send in ADDED events. */
  readonly initial: Iterator<Item> | undefined
  /**
   * Events from before the event ring, which are shared with other watchers. The watcher delivers
   * them from index `earlierAt` on.
   */
  readonly earlier: readonly ObjectChange[]
  readonly earlierAt: number
  /**
   * Called when the earlier events have been delivered, or when it is certain that they will not be
   * delivered.
   */
  readonly onReplayed: () => void
  /** The position in the event ring to continue from. */
  readonly position: number
  /**
   * The watcher's `seen` starts with this revision: the client already has all changes up to it, or
   * gets them with the initial objects.
   */
  readonly seen: Revision
  /**
   * The initial objects or earlier events include all changes up to this revision. If such changes
   * are added to the event ring later, they are skipped.
   */
  readonly initialRevision: Revision
  /** Whether to send a bookmark after the initial objects. */
  readonly markInitialEnd: boolean
}

export type WatchSource = {
  readonly ring: Ring
  readonly frames: EvictionQueue
  readonly defer: Timers['defer']
  /** Returns the revision up to which the event ring has all events. */
  readonly revision: () => Revision
  /**
   * Returns the position of the first event at or after `position` that the watcher must examine.
   * Returns undefined if that event or an earlier one was evicted.
   */
  readonly next: (position: number) => number | undefined
  /** Calls the watcher's `wake` when there are events. */
  readonly sleep: (watcher: Watcher) => void
  /** Removes the watcher from the resource. */
  readonly leave: (watcher: Watcher) => void
}

export type WatchFilter = {
  readonly range: KeyRange
  readonly matches: Matches | undefined
}

/** The part of a watch that is needed to deliver its events to a client. */
export type EventSource = Pick<
  Watcher,
  'state' | 'hasNews' | 'take' | 'onReady' | 'requestBookmark' | 'close'
> & {
  /** The error with which the watch was closed, if it should be sent to the client. */
  readonly failure?: ApiError | undefined
}

export class Watcher implements AsyncIterable<readonly WatchEvent[]> {
  /** Index in the queue of the Waker. The Waker updates it. */
  place = -1
  readonly #source: WatchSource
  readonly #filter: WatchFilter
  readonly #initialRevision: Revision
  readonly #startPosition: number
  readonly #hadEarlier: boolean
  #initial: Iterator<Item> | undefined
  #earlier: readonly ObjectChange[]
  #earlierAt: number
  #onReplayed: () => void
  #position: number
  #seen: Revision
  #markInitialEnd: boolean
  #isBookmarkDue = false
  /** Number of periodic cleanups since the last `take`. */
  #idleSweeps = 0
  /** Number of initial objects taken so far. */
  #initialCount = 0
  #closed: CloseReason | undefined
  #onReady: (() => void) | undefined

  constructor(source: WatchSource, filter: WatchFilter, start: WatchStart) {
    this.#source = source
    this.#filter = filter
    this.#initial = start.initial
    this.#earlier = start.earlier
    this.#earlierAt = start.earlierAt
    this.#onReplayed = start.onReplayed
    this.#position = start.position
    this.#startPosition = start.position
    this.#hadEarlier = start.earlierAt < start.earlier.length
    this.#initialRevision = start.initialRevision
    this.#seen = start.seen
    this.#markInitialEnd = start.markInitialEnd
  }

  get state(): 'replaying' | 'live' | 'closed' {
    if (this.#closed !== undefined) return 'closed'
    return this.#initial === undefined && this.#earlierAt === this.#earlier.length
      ? 'live'
      : 'replaying'
  }

  get closedBecause(): CloseReason | undefined {
    return this.#closed
  }

  get initialCount(): number {
    return this.#initialCount
  }

  /** The revision up to which all events have been taken. A new watch can resume from it. */
  get seen(): Revision {
    return this.#seen
  }

  /**
   * Whether the resource has had any events since the watch began, whether they were selected or
   * not.
   */
  get hasNews(): boolean {
    return this.#hadEarlier || this.#source.ring.end > this.#startPosition
  }

  /**
   * Returns the events that are available now. If there are none, the caller must wait for
   * `onReady`, unless the watch has ended.
   */
  take(): readonly WatchEvent[] {
    this.#idleSweeps = 0
    const events: WatchEvent[] = []
    if (this.#closed === undefined) {
      const room = this.#takeInitial(events, TAKE_BYTES)
      if (this.#initial === undefined) this.#takeRing(events, this.#takeEarlier(events, room))
    }
    return events
  }

  /** Calls `ready` once, when there are events to take or the watcher is closed. */
  onReady(ready: () => void): void {
    this.#onReady = ready
    const hasMore = this.#closed !== undefined || this.state === 'replaying' || this.#hasUnseen()
    // Defer the call, so that a watcher with many events to examine does not block other watchers.
    if (hasMore) this.#source.defer(() => this.wake())
    else this.#source.sleep(this)
  }

  /** Makes the next `take` end with a bookmark, if the watcher has examined all events by then. */
  requestBookmark(): void {
    this.#isBookmarkDue = true
    this.wake()
  }

  /**
   * Called at each periodic cleanup (sweep) of the cache. Closes a replaying watcher as too slow in
   * two cases. It has not taken any events for SWEEPS_KEPT sweeps, or the event ring no longer has
   * the events that follow its initial objects or earlier events. A watcher that starts with the
   * initial objects keeps these objects in memory. As long as the event ring has all later events,
   * the event ring keeps the same objects, and its budget counts them.
   */
  onSweep(): void {
    if (this.state !== 'replaying') return
    const { ring, next } = this.#source
    const isBehind =
      this.#initial === undefined ? next(this.#position) === undefined : this.#position < ring.first
    if (isBehind || ++this.#idleSweeps > SWEEPS_KEPT) this.close('too-slow')
  }

  close(reason: CloseReason = 'caller'): void {
    this.end(reason)
    this.wake()
  }

  /** Closes the watch like `close`, except that the caller must call `wake` later. */
  end(reason: CloseReason): void {
    if (this.#closed !== undefined) return
    this.#closed = reason
    this.#initial?.return?.()
    this.#initial = undefined
    this.#endEarlier()
    this.#source.leave(this)
  }

  /** Called by the source when there are events to take. */
  wake(): void {
    const ready = this.#onReady
    this.#onReady = undefined
    ready?.()
  }

  [Symbol.asyncIterator](): AsyncGenerator<readonly WatchEvent[], void, void> {
    return eventsOf(this)
  }

  #hasUnseen(): boolean {
    const { next, ring } = this.#source
    const position = this.#position < ring.end ? next(this.#position) : ring.end
    return position === undefined || position < ring.end
  }

  #takeInitial(events: WatchEvent[], room: number): number {
    let left = room
    let shown = 0
    while (this.#initial !== undefined && left > 0 && shown < INITIAL_BYTES) {
      const next = this.#initial.next()
      if (next.done === true) {
        this.#initial = undefined
        if (this.#markInitialEnd)
          events.push({ type: 'BOOKMARK', revision: this.#initialRevision, initialEventsEnd: true })
        break
      }
      left -= lookCost(next.value, this.#filter)
      if (this.#filter.matches !== undefined && !this.#filter.matches(next.value)) continue
      left -= next.value.length
      shown += next.value.length
      events.push(new InitialEvent(next.value))
      this.#initialCount++
    }
    return left
  }

  #takeEarlier(events: WatchEvent[], room: number): number {
    let left = room
    while (left > 0 && this.#earlierAt < this.#earlier.length) {
      const change = this.#earlier[this.#earlierAt++]
      if (change !== undefined) left -= this.#show(change, events)
    }
    if (this.#earlierAt === this.#earlier.length) this.#endEarlier()
    return left
  }

  #endEarlier(): void {
    this.#onReplayed()
    this.#onReplayed = nothing
    this.#earlier = none
    this.#earlierAt = 0
  }

  #takeRing(events: WatchEvent[], room: number): void {
    const { ring } = this.#source
    if (this.#earlier.length > 0) return
    let left = room
    const { end } = ring
    while (left > 0 && this.#position < end) {
      const next = this.#source.next(this.#position)
      if (next === undefined) {
        this.close('too-slow')
        return
      }
      this.#position = next
      if (next === end) break
      const change = ring.at(this.#position++)
      if (change !== undefined && change.revision > this.#initialRevision)
        left -= this.#show(change, events)
    }
    if (this.#position === end) this.#caughtUp(events)
  }

  #caughtUp(events: WatchEvent[]): void {
    this.#seen = Math.max(this.#seen, this.#source.revision())
    if (!this.#isBookmarkDue) return
    this.#isBookmarkDue = false
    events.push({ type: 'BOOKMARK', revision: this.#seen, initialEventsEnd: false })
  }

  /**
   * Adds the event for a change, if the watcher selects it. Returns the cost, which counts toward
   * TAKE_BYTES.
   */
  #show(change: ObjectChange, events: WatchEvent[]): number {
    this.#seen = change.revision
    const { range, matches } = this.#filter
    if (change.key < range.from || change.key >= range.to) return 1
    const { item, previous } = change
    const latest = item ?? previous
    const cost = latest === undefined ? 0 : lookCost(latest, this.#filter)
    const wasSelected = previous !== undefined && (matches === undefined || matches(previous))
    const isSelected = item !== undefined && (matches === undefined || matches(item))
    const shown = change.shown(wasSelected, isSelected, this.#source.frames)
    if (shown === undefined) return cost
    events.push(shown)
    return cost + (latest?.length ?? 0)
  }
}

/**
 * Yields the events of a watch until the watch is closed. If the consumer stops iterating, the
 * watch is closed.
 */
export async function* eventsOf(
  source: EventSource,
): AsyncGenerator<readonly WatchEvent[], void, void> {
  try {
    for (;;) {
      const events = source.take()
      if (events.length > 0) yield events
      else if (source.state === 'closed') return
      else await new Promise<void>((resolve) => source.onReady(resolve))
    }
  } finally {
    source.close()
  }
}

/**
 * Passes all available events to `pass`. If `pass` throws, the watch is closed, because the events
 * that it has taken would be lost.
 */
export function takeAll(source: EventSource, pass: (events: readonly WatchEvent[]) => void): void {
  try {
    for (let events = source.take(); events.length > 0; events = source.take()) pass(events)
  } catch (error) {
    source.close()
    throw error
  }
}

/**
 * Passes the events of a watch to `pass` until the watch is closed. Used by consumers that also
 * call `takeAll`. Unlike with `eventsOf`, events are passed on immediately after they are taken.
 */
export async function takeUntilClosed(
  source: EventSource,
  pass: (events: readonly WatchEvent[]) => void,
): Promise<void> {
  try {
    for (;;) {
      takeAll(source, pass)
      if (source.state === 'closed') return
      await new Promise<void>((resolve) => source.onReady(resolve))
    }
  } finally {
    source.close()
  }
}
