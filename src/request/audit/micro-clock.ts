/**
 * Timestamps of audit events: RFC 3339 with microseconds, in UTC. The system's wall clock has a
 * resolution of milliseconds, so the microseconds come from the monotonic clock. When the two
 * clocks differ, the timestamps are adjusted to the wall clock.
 */
import type { ByteText } from '../../lib/bytes/byte-text.ts'
import type { Clock } from '../../lib/time/clock.ts'

/**
 * Minimum interval between two comparisons of the clocks. Comparing them for every event would be
 * too expensive, and a longer interval would make differences noticeable.
 */
const COMPARED_MS = 10

export class MicroClock {
  readonly #clock: Clock
  /** Offset of the wall clock from the monotonic clock. */
  #anchorMs: number
  /** Time at which the clocks were last compared, on the monotonic clock. */
  #comparedMs: number
  #second = Number.NaN
  #secondText = ''

  constructor(clock: Clock) {
    this.#clock = clock
    this.#comparedMs = clock.monotonicMs()
    this.#anchorMs = clock.wallMs() - this.#comparedMs
  }

  /**
   * Returns the time in milliseconds since 1970, with fractions. `monotonicMs` is a recent time of
   * the monotonic clock.
   */
  now(monotonicMs: number): number {
    if (monotonicMs - this.#comparedMs >= COMPARED_MS) this.#compare()
    return this.#anchorMs + monotonicMs
  }

  /**
   * Compares the clocks. Reads both clocks again, because the process might have paused since the
   * monotonic clock was read for a request.
   */
  #compare(): void {
    const monotonicMs = this.#clock.monotonicMs()
    this.#comparedMs = monotonicMs
    const behindMs = this.#clock.wallMs() - (this.#anchorMs + monotonicMs)
    if (behindMs > 0 || behindMs <= -1) this.#anchorMs += behindMs
  }

  print(ms: number): string {
    const second = this.#begin(ms)
    return `${this.#secondText}${`${microsOf(ms, second)}`.padStart(MICRO_DIGITS, '0')}Z`
  }

  /**
   * Appends the text of `before`, followed by the time. The time has the format of `print`, but
   * without the final `Z`.
   */
  append(into: ByteText, ms: number, before: TimeField): void {
    const second = this.#begin(ms)
    into.append(before.upTo(this.#secondText))
    into.digits(microsOf(ms, second), MICRO_DIGITS)
  }

  #begin(ms: number): number {
    const second = Math.floor(ms / 1000)
    if (second === this.#second) return second
    this.#second = second
    this.#secondText = new Date(second * 1000).toISOString().slice(0, -4)
    return second
  }
}

const MICRO_DIGITS = 6

const microsOf = (ms: number, second: number): number => Math.floor((ms - second * 1000) * 1000)

/**
 * The text that precedes a timestamp in events. Caches this text together with the beginning of the
 * timestamp, which many events share.
 */
export class TimeField {
  readonly #before: string
  #second = ''
  #bytes = Buffer.alloc(0)

  constructor(before: string) {
    this.#before = before
  }

  upTo(second: string): Buffer {
    if (second !== this.#second) {
      this.#second = second
      this.#bytes = Buffer.from(`${this.#before}${second}`)
    }
    return this.#bytes
  }
}
