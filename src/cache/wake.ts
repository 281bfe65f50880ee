/**
 * Wakes the watchers of a resource when there are events: at once when it was quiet, else at a pace, so that several events
 * reach a watcher in one write; and in slices, so that ten thousand watchers do not hold the event loop.
 */
import { Slices } from '../lib/slices.ts'
import type { Watcher } from './watch.ts'

/** At 2,000 events a second and more, a watcher gets several at once; nobody notices two milliseconds. */
const PACE_MS = 2

export class Waker {
  #asleep: Watcher[] = []
  #isRunning = false
  #isDirty = false
  #lastMs = 0

  sleep(watcher: Watcher): void {
    this.#asleep.push(watcher)
  }

  wake(): void {
    // Who fell asleep during a run, before this event, needs another.
    this.#isDirty = this.#isRunning
    if (this.#isRunning || this.#asleep.length === 0) return
    this.#isRunning = true
    const waitMs = this.#lastMs + PACE_MS - performance.now()
    if (waitMs > 0) setTimeout(() => this.#run(), waitMs)
    else setImmediate(() => this.#run())
  }

  #run(): void {
    const watchers = this.#asleep
    this.#asleep = []
    this.#runFrom(watchers, 0)
  }

  #runFrom(watchers: readonly Watcher[], start: number): void {
    const slices = new Slices()
    for (let i = start; i < watchers.length; i++) {
      watchers[i]?.wake()
      if (i % 16 === 15 && slices.isOver) {
        setImmediate(() => this.#runFrom(watchers, i + 1))
        return
      }
    }
    this.#isRunning = false
    this.#lastMs = performance.now()
    if (this.#isDirty) this.wake()
  }
}
