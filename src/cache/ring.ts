/**
 * The recent events of one resource, in order. Each has a position that never changes, so a watcher is a position in this ring and needs
 * no buffer of its own. Evicted events are gone for good; every event after the revision `completeAfter` is still here.
 */
import { Deque } from '../lib/deque.ts'
import type { Revision } from '../storage/engine.ts'
import type { ObjectChange } from './event.ts'

export class Ring {
  readonly #changes = new Deque<ObjectChange>()
  readonly #onForget: (change: ObjectChange, first: number) => void
  #first = 0
  #completeAfter: Revision

  /** `onForget` is called for each evicted event, with the position of the oldest one that remains. */
  constructor(completeAfter: Revision, onForget: (change: ObjectChange, first: number) => void) {
    this.#completeAfter = completeAfter
    this.#onForget = onForget
  }

  /** Whether a watcher that has seen everything up to this revision can resume from this ring. */
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
   * Evicts the oldest event. Others of its revision may remain, but no watch can resume before them any more: none sees half a revision.
   */
  evict(): void {
    const change = this.#changes.shift()
    if (change === undefined) return
    this.#first++
    this.#completeAfter = change.revision
    this.#onForget(change, this.#first)
  }

  /** The position of the first event after this revision. */
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
