/** Determines when an operation that pauses the whole process is allowed again. */

/**
 * Required wait before the next pause, as a multiple of the last pause. With this value, pauses
 * take at most a fifth of the total time, however often they are requested.
 */
const REST_TIMES = 4

export class Rest {
  #untilMs = 0

  /** Records a pause. `nowMs` is the time at which the pause ended. */
  record(heldMs: number, nowMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, nowMs) + heldMs * REST_TIMES
  }

  waitMs(nowMs: number): number {
    return Math.max(0, this.#untilMs - nowMs)
  }
}
