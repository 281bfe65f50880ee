/**
 * Measures how many seats a priority level could use over time. The result determines how many
 * seats the level lends and borrows.
 */

export class SeatDemand {
  #seats = 0
  #sinceMs: number
  #elapsedMs = 0
  /** Integrals of the demand over the current period. */
  #sum = 0
  #squares = 0
  #max = 0
  /** Statistics of the last period. `smoothed` rises immediately and falls slowly. */
  average = 0
  deviation = 0
  highWatermark = 0
  smoothed = 0

  constructor(nowMs: number) {
    this.#sinceMs = nowMs
  }

  set(seats: number, nowMs: number): void {
    this.#integrate(nowMs)
    this.#seats = seats
    if (seats > this.#max) this.#max = seats
  }

  /** Ends a period. Its statistics apply until the next period ends. */
  endPeriod(nowMs: number): void {
    this.#integrate(nowMs)
    this.highWatermark = Math.round(this.#max)
    if (this.#elapsedMs > 0) {
      this.average = this.#sum / this.#elapsedMs
      this.deviation = Math.sqrt(Math.max(0, this.#squares / this.#elapsedMs - this.average ** 2))
      const envelope = this.average + this.deviation
      this.smoothed = Math.max(envelope, SMOOTHING * this.smoothed + (1 - SMOOTHING) * envelope)
    }
    this.#elapsedMs = 0
    this.#sum = 0
    this.#squares = 0
    this.#max = this.#seats
  }

  #integrate(nowMs: number): void {
    const ms = nowMs - this.#sinceMs
    this.#sinceMs = nowMs
    this.#elapsedMs += ms
    this.#sum += this.#seats * ms
    this.#squares += this.#seats * this.#seats * ms
  }
}

/**
 * Smoothing factor, as in kube-apiserver. With periods of ten seconds, a peak decays to half after
 * five minutes.
 */
const SMOOTHING = 0.977
