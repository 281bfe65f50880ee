/**
 * The times in audit events: RFC 3339 with microseconds, in UTC. The system's wall clock has milliseconds, so the rest comes from the
 * monotonic clock, which is anchored to it anew whenever the two disagree.
 */
import type { Clock } from '../lib/clock.ts'

/** How often the two are compared: not for each of many events, yet before anybody sees the difference. */
const COMPARED_MS = 10

export class MicroClock {
  readonly #clock: Clock
  /** What has to be added to the monotonic clock. */
  #anchorMs: number
  /** When the clocks were compared last, on the monotonic clock. */
  #comparedMs: number
  #second = Number.NaN
  #secondText = ''

  constructor(clock: Clock) {
    this.#clock = clock
    this.#comparedMs = clock.monotonicMs()
    this.#anchorMs = clock.wallMs() - this.#comparedMs
  }

  /** In milliseconds since 1970, with fractions. `monotonicMs`: what the monotonic clock says now. */
  now(monotonicMs: number): number {
    if (monotonicMs - this.#comparedMs >= COMPARED_MS) this.#compare(monotonicMs)
    return this.#anchorMs + monotonicMs
  }

  #compare(monotonicMs: number): void {
    this.#comparedMs = monotonicMs
    const behindMs = this.#clock.wallMs() - (this.#anchorMs + monotonicMs)
    if (behindMs > 0 || behindMs <= -1) this.#anchorMs += behindMs
  }

  print(ms: number): string {
    const second = Math.floor(ms / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#secondText = new Date(second * 1000).toISOString().slice(0, -4)
    }
    const micros = Math.floor((ms - second * 1000) * 1000)
    return `${this.#secondText}${`${micros}`.padStart(6, '0')}Z`
  }
}
