/**
 * Cuts long work into slices, so that it never holds the event loop for more than a few milliseconds: ten long lists at once
 * take ten slices in a row.
 */
import { systemTime, type Time } from './timers.ts'

const SLICE_MS = 1

/** Work that can be left between any two steps and gone on with later. A step that takes longer than a slice holds everybody up. */
export type Steps<T> = Generator<undefined, T, void>

/** Others get their turns between steps. */
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

  /** Call often; it is cheap. True when others should get a turn: then await `turn()`. */
  get isOver(): boolean {
    return this.#time.monotonicMs() - this.#since > SLICE_MS
  }

  /** A slice begins only now, if what was done before was not the work itself. */
  begin(): void {
    this.#since = this.#time.monotonicMs()
  }

  async turn(): Promise<void> {
    await new Promise<void>((resolve) => this.#time.soon(resolve))
    this.begin()
  }
}
