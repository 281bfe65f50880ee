/**
 * The watchers of one resource. A watcher that selects objects by an indexed value is woken only by
 * the events of its group (watch-groups.ts). All other watchers are woken by every event.
 */
import type { Time } from '../../lib/time/timers.ts'
import type { Key, Revision } from '../engine.ts'
import type { ResourceContents } from './contents.ts'
import type { ResourceCounts } from './counts.ts'
import type { EvictionQueue } from './eviction-queue.ts'
import type { FieldIndexes } from './field-index.ts'
import type { IndexedValue } from './tree.ts'
import { Waker, wakeInSlices } from './wake.ts'
import type { CloseReason, Watcher, WatchSource } from './watch.ts'

/**
 * Called when an object becomes unreadable ('unreadable'), and when an unreadable object is deleted
 * ('gone'). If an object becomes readable again, the watch delivers an event instead.
 */
export type OnUnreadable = (key: Key, state: 'unreadable' | 'gone') => void

export type ResourceWatchersOptions = {
  readonly counts: ResourceCounts
  readonly frames: EvictionQueue
  readonly indexes: FieldIndexes | undefined
  readonly time: Time
  /** Returns the revision that the resource has reached. */
  readonly revision: () => Revision
  readonly onLeave: () => void
}

export class ResourceWatchers {
  readonly #options: ResourceWatchersOptions
  readonly #watchers = new Set<Watcher>()
  readonly #waker: Waker
  readonly #unreadableListeners = new Map<Watcher, OnUnreadable>()

  constructor(options: ResourceWatchersOptions) {
    this.#options = options
    this.#waker = new Waker(options.time)
  }

  get size(): number {
    return this.#watchers.size
  }

  /**
   * Returns the source of events for a new watcher. If there are indexed values, the watcher
   * selects only objects that have all of them. If the first value has an index, only events about
   * objects with this value wake the watcher.
   */
  sourceOf(contents: ResourceContents, [by]: readonly IndexedValue[] = []): WatchSource {
    const { ring, groups } = contents
    const { frames, time, indexes, revision } = this.#options
    const valueOf = by && indexes?.readerOf(by)
    const group = by && valueOf && groups.join(by, valueOf)
    const waker = group?.waker ?? this.#waker
    return {
      ring,
      frames,
      defer: time.defer,
      revision,
      next:
        group === undefined
          ? (position) => (position < ring.first ? undefined : position)
          : (at) => group.next(at),
      sleep: (watcher) => waker.sleep(watcher),
      leave: (watcher) => {
        this.#remove(watcher)
        waker.forget(watcher)
        if (by !== undefined && group !== undefined) groups.leave(by, group)
        this.#options.onLeave()
      },
    }
  }

  add(watcher: Watcher, onUnreadable: OnUnreadable | undefined): void {
    this.#watchers.add(watcher)
    if (onUnreadable !== undefined) this.#unreadableListeners.set(watcher, onUnreadable)
  }

  wake(): void {
    this.#waker.wake()
  }

  /** Reports the key of an unreadable object to all watchers that have a listener. */
  reportUnreadable(key: Key, state: 'unreadable' | 'gone'): void {
    for (const report of this.#unreadableListeners.values()) report(key, state)
  }

  onSweep(): void {
    for (const watcher of this.#watchers) watcher.onSweep()
  }

  /**
   * Closes all watchers in this tick, so that none of them delivers another event. They are woken
   * in later ticks.
   */
  closeAll(reason: CloseReason): void {
    const watchers = [...this.#watchers]
    for (const watcher of watchers) watcher.end(reason)
    void wakeInSlices(watchers, this.#options.time)
  }

  #remove(watcher: Watcher): void {
    const { counts } = this.#options
    this.#watchers.delete(watcher)
    this.#unreadableListeners.delete(watcher)
    if (watcher.closedBecause === 'too-slow') counts.tooSlow++
    else if (watcher.closedBecause === 'gap') counts.gaps++
    counts.initial += watcher.initialCount
  }
}
