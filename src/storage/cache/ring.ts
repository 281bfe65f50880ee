/**
 * The recent events of one resource, in order. The position of an event never changes. A watcher
 * only needs a position in the event ring and no buffer. Every event after the revision
 * `completeAfter` is still in the event ring.
 */
import { Deque } from '../../lib/collections/deque.ts'
import type { Key, Revision } from '../engine.ts'
import type { ObjectChange } from './event.ts'

/**
 * Number of events that `recent` compares. Under load, these are the events of the last few
 * milliseconds. Comparing their keys is faster than searching a tree of many objects.
 */
const RECENT_MAX = 32

export class Ring {
  readonly #changes = new Deque<ObjectChange>()
  readonly #onForget: (change: ObjectChange, first: number) => void
  #first = 0
  #completeAfter: Revision

  /**
   * `onForget` is called for each evicted event, with the position of the oldest one that remains.
   */
  constructor(completeAfter: Revision, onForget: (change: ObjectChange, first: number) => void) {
    this.#completeAfter = completeAfter
    this.#onForget = onForget
  }

  /**
   * Whether a watcher that has received all events up to this revision can resume from this event
   * ring.
   */
  reachesBackTo(revision: Revision): boolean {
    return revision >= this.#completeAfter
  }

  /** The position of the oldest event. */
  get first(): number {
    return this.#first
  }

  /** The position that the next event will get. */
  get end(): number {
    return this.#first + this.#changes.length
  }

  push(change: ObjectChange): void {
    this.#changes.push(change)
  }

  at(position: number): ObjectChange | undefined {
    return this.#changes.at(position - this.#first)
  }

  /**
   * Evicts the oldest event. Other events of the same revision may remain. However, no watch can
   * resume from before that revision any more, so no watch delivers only a part of the revision.
   */
  evict(): void {
    const change = this.#changes.shift()
    if (change === undefined) return
    this.#first++
    this.#completeAfter = change.revision
    this.#onForget(change, this.#first)
  }

  /**
   * Returns the latest event about the key since this revision, but only if it is one of the last
   * few events.
   */
  recent(key: Key, revision: Revision): ObjectChange | undefined {
    const { length } = this.#changes
    for (let at = length - 1; at >= Math.max(0, length - RECENT_MAX); at--) {
      const change = this.#changes.at(at)
      if (change === undefined || change.revision < revision) return undefined
      if (change.key === key) return change
    }
    return undefined
  }

  /** Returns the position of the first event after this revision. */
  positionAfter(revision: Revision): number {
    let low = 0
    let high = this.#changes.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#changes.at(middle)?.revision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return this.#first + low
  }
}
