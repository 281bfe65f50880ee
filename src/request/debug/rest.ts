/** Decides how long something that stops the whole program has to rest before it is done again. */

/**
 * Duration of the rest, as a multiple of the pause. So pauses take at most a fifth of all time,
 * however often they are requested.
 */
const REST_TIMES = 4

export class Rest {
  #untilMs = 0

  /** Records a pause. `nowMs` is when it ended. */
  record(heldMs: number, nowMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, nowMs) + heldMs * REST_TIMES
  }

  waitMs(nowMs: number): number {
    return Math.max(0, this.#untilMs - nowMs)
  }
}
