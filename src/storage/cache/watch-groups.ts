/**
 * Groups the watchers that select objects by one value of a field or label. For example, a kubelet
 * selects the pods of its node. An event is recorded for the groups of the previous value and of
 * the new value, and wakes only their watchers. Until an event has been sorted into groups,
 * watchers examine it themselves and do not wait for the sorting.
 */
import { Deque } from '../../lib/collections/deque.ts'
import { ownText } from '../../lib/text/own-text.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import type { Time } from '../../lib/time/timers.ts'
import { StorageError } from '../errors.ts'
import type { ObjectChange } from './event.ts'
import type { Item } from './item.ts'
import type { Ring } from './ring.ts'
import type { IndexedValue } from './tree.ts'
import { indexOf } from './field-index.ts'
import { Waker } from './wake.ts'

/**
 * The groups of one field or label. If the value of an object cannot be read, the event is recorded
 * for all groups.
 */
type Field = {
  readonly valueOf: (item: Item) => string | undefined
  readonly groups: Map<string, WatchGroup>
}

export class WatchGroups {
  readonly #ring: Ring
  readonly #time: Time
  readonly #fields = new Map<string, Field>()
  #isSorting = false
  /** Position in the event ring up to which events have been sorted into groups. */
  #sorted: number

  constructor(ring: Ring, time: Time) {
    this.#ring = ring
    this.#time = time
    this.#sorted = ring.end
  }

  /** The position of the first event that has not been sorted yet. */
  get sorted(): number {
    return this.#sorted
  }

  /**
   * Adds a watcher to the group of a value. The caller must call `leave` once for each call of
   * `join`.
   */
  join(by: IndexedValue, valueOf: Field['valueOf']): WatchGroup {
    const { value } = by
    const field = indexOf(by)
    // Start with new events, because events were not sorted while there were no groups.
    if (this.#fields.size === 0) this.#sorted = this.#ring.end
    let known = this.#fields.get(field)
    if (known === undefined) {
      known = { valueOf, groups: new Map<string, WatchGroup>() }
      this.#fields.set(ownText(field), known)
    }
    let group = known.groups.get(value)
    if (group === undefined) {
      group = new WatchGroup(this.#ring, this, new Waker(this.#time))
      // Copies the value, which is a slice of the watcher's selector, because the group may outlive
      // the watcher.
      known.groups.set(ownText(value), group)
    }
    group.watchers++
    return group
  }

  leave(by: IndexedValue, group: WatchGroup): void {
    if (--group.watchers > 0) return
    const { value } = by
    const field = indexOf(by)
    const known = this.#fields.get(field)
    known?.groups.delete(value)
    if (known?.groups.size === 0) this.#fields.delete(field)
  }

  /**
   * Called at each periodic cleanup of the cache, so that a group whose watchers sleep does not
   * retain the positions of evicted events.
   */
  onSweep(): void {
    for (const { groups } of this.#fields.values())
      for (const group of groups.values()) group.trim()
  }

  /** Sorts new events in the event ring into groups. */
  wake(): void {
    if (this.#isSorting || this.#fields.size === 0) return
    this.#isSorting = true
    this.#time.defer(() => this.#sort())
  }

  #sort(): void {
    const slices = new Slices(this.#time)
    const ring = this.#ring
    if (this.#sorted < ring.first) this.#miss()
    while (this.#sorted < ring.end) {
      const change = ring.at(this.#sorted)
      if (change !== undefined)
        for (const field of this.#fields.values()) this.#record(field, change)
      this.#sorted++
      if (slices.isOver) {
        this.#time.defer(() => this.#sort())
        return
      }
    }
    this.#isSorting = false
  }

  #record({ valueOf, groups }: Field, { item, previous }: ObjectChange): void {
    try {
      const before = previous && valueOf(previous)
      const after = item && valueOf(item)
      if (before !== undefined) groups.get(before)?.record(this.#sorted)
      if (after !== undefined && after !== before) groups.get(after)?.record(this.#sorted)
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      for (const group of groups.values()) group.record(this.#sorted)
    }
  }

  /** Handles events that the event ring evicted before they were sorted. */
  #miss(): void {
    this.#sorted = this.#ring.first
    for (const { groups } of this.#fields.values())
      for (const group of groups.values()) group.miss(this.#sorted)
  }
}

/** The events that watchers of one value must examine. */
class WatchGroup {
  readonly waker: Waker
  watchers = 0
  readonly #ring: Ring
  readonly #all: Pick<WatchGroups, 'sorted'>
  /**
   * Position in the event ring. `#positions` contains all events from there on that concern the
   * group.
   */
  #from: number
  readonly #positions = new Deque<number>()

  constructor(ring: Ring, all: Pick<WatchGroups, 'sorted'>, waker: Waker) {
    this.#ring = ring
    this.#all = all
    this.#from = all.sorted
    this.waker = waker
  }

  record(position: number): void {
    this.#positions.push(position)
    this.#forget()
    this.waker.wake()
  }

  miss(before: number): void {
    this.#from = before
    this.waker.wake()
  }

  /**
   * Drops the positions of evicted events and frees their memory. Otherwise the positions of a
   * burst of events would stay in memory until the next event for the value.
   */
  trim(): void {
    this.#forget()
    if (this.#positions.length === 0) this.#positions.clear()
  }

  /**
   * Returns the position of the first event at or after `position` that a watcher must examine.
   * Returns undefined if that event or an earlier one was evicted.
   */
  next(position: number): number | undefined {
    this.#forget()
    const { sorted } = this.#all
    if (position < this.#from || position >= sorted)
      return position < this.#ring.first ? undefined : position
    const next = this.#positionFrom(position) ?? sorted
    // Sorted events that do not concern the group may have been evicted. The next event must still
    // be in the event ring if it concerns the group or has not been sorted yet.
    return next < this.#ring.first ? undefined : next
  }

  /**
   * Drops the positions of evicted events. A watcher that has not reached them has missed an event.
   */
  #forget(): void {
    for (;;) {
      const oldest = this.#positions.at(0)
      if (oldest === undefined || oldest >= this.#ring.first) return
      this.#positions.shift()
      this.#from = Math.max(this.#from, oldest + 1)
    }
  }

  #positionFrom(position: number): number | undefined {
    let low = 0
    let high = this.#positions.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#positions.at(middle) ?? 0) < position) low = middle + 1
      else high = middle
    }
    return this.#positions.at(low)
  }
}
