/**
 * Wakes the watchers of a resource when there are events. After a quiet period, watchers are woken
 * at the end of the tick. Otherwise they are woken at a minimum interval, so that several events
 * are sent in one write. Watchers are woken in slices, so that ten thousand watchers do not block
 * the event loop.
 */
import { Slices } from '../../lib/scheduling/slices.ts'
import { systemTime, type Time } from '../../lib/time/timers.ts'

/**
 * Minimum interval between two runs. If there are more than 500 events per second, a watcher
 * receives several events at once. Clients do not notice a delay of two milliseconds.
 */
const PACE_MS = 2

/**
 * A watcher that waits for events. While it is queued, `place` is its index in the queue of the
 * waker.
 */
export type WaitingWatcher = { readonly wake: () => void; place: number }

export class Waker {
  readonly #time: Time
  #asleep: WaitingWatcher[] = []
  #isRunning = false
  #isDirty = false
  #lastMs = 0

  constructor(time: Time = systemTime) {
    this.#time = time
  }

  /**
   * Adds a watcher to the queue unless it is already queued. It is already queued if a bookmark
   * woke it without an event and it goes to sleep again.
   */
  sleep(sleeper: WaitingWatcher): void {
    if (this.#isAsleep(sleeper)) return
    sleeper.place = this.#asleep.length
    this.#asleep.push(sleeper)
  }

  /**
   * Removes a closed watcher from the queue, because there may never be another event that wakes
   * it. The last watcher in the queue moves to its index.
   */
  forget(sleeper: WaitingWatcher): void {
    if (!this.#isAsleep(sleeper)) return
    const last = this.#asleep.pop()
    if (last === undefined || last === sleeper) return
    this.#asleep[sleeper.place] = last
    last.place = sleeper.place
  }

  wake(): void {
    // A watcher may have gone to sleep during the current run, before this event. It is woken only
    // if there is another run.
    this.#isDirty = this.#isRunning
    if (this.#isRunning || this.#asleep.length === 0) return
    this.#isRunning = true
    const waitMs = this.#lastMs + PACE_MS - this.#time.monotonicMs()
    if (waitMs > 0) this.#time.after(waitMs, () => this.#run())
    else this.#time.defer(() => this.#run())
  }

  #isAsleep(sleeper: WaitingWatcher): boolean {
    return this.#asleep[sleeper.place] === sleeper
  }

  #run(): void {
    const sleepers = this.#asleep
    this.#asleep = []
    this.#runFrom(sleepers, 0)
  }

  #runFrom(sleepers: readonly WaitingWatcher[], start: number): void {
    const slices = new Slices(this.#time)
    for (let i = start; i < sleepers.length; i++) {
      sleepers[i]?.wake()
      if (i % 16 === 15 && slices.isOver) {
        this.#time.defer(() => this.#runFrom(sleepers, i + 1))
        return
      }
    }
    this.#isRunning = false
    this.#lastMs = this.#time.monotonicMs()
    if (this.#isDirty) this.wake()
  }
}

/**
 * Wakes closed watchers, each of which then ends its response. A change of a
 * CustomResourceDefinition or a gap in the event feed closes all watchers of many resources in the
 * same tick. Therefore none of them is woken in that tick. Never rejects.
 */
export async function wakeInSlices(
  watchers: readonly Pick<WaitingWatcher, 'wake'>[],
  time: Time,
): Promise<void> {
  if (watchers.length === 0) return
  const slices = new Slices(time, { isShared: true })
  await slices.turn()
  for (const watcher of watchers) {
    watcher.wake()
    if (slices.isOver) await slices.turn()
  }
}
