/** How long something that holds the whole program has to rest before it is done again. */

/**
 * So many times the time that it held the program: it takes no more than a fifth of all time,
 * however often it is asked for.
 */
const REST_TIMES = 4

export class Rest {
  #untilMs = 0

  /** `nowMs`: when it had ended. */
  record(heldMs: number, nowMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, nowMs) + heldMs * REST_TIMES
  }

  waitMs(nowMs: number): number {
    return Math.max(0, this.#untilMs - nowMs)
  }
}
