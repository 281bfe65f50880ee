/**
 * The times in audit events: RFC 3339 with microseconds, in UTC. The system's wall clock has milliseconds, so the rest comes from the
 * monotonic clock, which is anchored to it anew whenever the two disagree.
 */
import type { Clock } from '../lib/clock.ts'

export class MicroClock {
  readonly #clock: Clock
  /** What has to be added to the monotonic clock. */
  #anchorMs: number
  #second = Number.NaN
  #secondText = ''

  constructor(clock: Clock) {
    this.#clock = clock
    this.#anchorMs = clock.wallMs() - clock.monotonicMs()
  }

  /** Now, in milliseconds since 1970, with fractions. */
  now(): number {
    const wallMs = this.#clock.wallMs()
    const monotonicMs = this.#clock.monotonicMs()
    const behindMs = wallMs - (this.#anchorMs + monotonicMs)
    if (behindMs > 0 || behindMs <= -1) this.#anchorMs += behindMs
    return this.#anchorMs + monotonicMs
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
