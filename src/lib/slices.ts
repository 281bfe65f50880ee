/**
 * Cuts long work into slices, so that it never holds the event loop for more than a few milliseconds: ten long lists at once
 * take ten slices in a row.
 */
import { systemTime, type Time } from './timers.ts'

const SLICE_MS = 1

/** Work that can be paused at each yield. A step between two yields that takes longer than a slice blocks the event loop. */
export type Steps<T> = Generator<undefined, T, void>

/** Runs the work, and yields to the event loop whenever a slice is over. */
export async function inSlices<T>(steps: Steps<T>): Promise<T> {
  const slices = new Slices()
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (slices.isOver) await slices.turn()
  }
}

export type SlicesTime = Pick<Time, 'monotonicMs' | 'soon'>

export class Slices {
  readonly #time: SlicesTime
  #since: number

  constructor(time: SlicesTime = systemTime) {
    this.#time = time
    this.#since = time.monotonicMs()
  }

  /** Cheap, to be called often. True when the slice is over: then await `turn()`. */
  get isOver(): boolean {
    return this.#time.monotonicMs() - this.#since > SLICE_MS
  }

  /** Begins a new slice: the time since the last one was not spent on this work. */
  begin(): void {
    this.#since = this.#time.monotonicMs()
  }

  async turn(): Promise<void> {
    await new Promise<void>((resolve) => this.#time.soon(resolve))
    this.begin()
  }
}
