/**
 * The clock of a cluster. It runs like the real clock, and a test can move it forward. Everything
 * that is due by the new time then happens immediately. Time limits of requests are measured with
 * the real clock.
 */
import { parseDuration } from '../../lib/time/duration.ts'
import { type Clock, systemClock } from '../../lib/time/clock.ts'
import {
  systemTimers,
  TIMER_MS_MAX,
  type Time,
  type Timer,
  type Timers,
} from '../../lib/time/timers.ts'

export type TestClockOptions = {
  /** How far the clock is ahead of the real clock, in milliseconds. */
  readonly offsetMs: number
  /** Called before a test moves the clock. `onMoved` is called after that. */
  readonly onMoving: () => void
  readonly onMoved: () => void | Promise<void>
}

/**
 * The first and the last time that the clock can show. The year must have four digits in timestamps
 * of the API and in certificates.
 */
const TIME_MS_MIN = 0
const TIME_MS_MAX = Date.UTC(9999, 11, 31, 23, 59, 59)
const tooFar = 'the clock ends with the year 9999'

/**
 * Returns the difference between a time and the real clock. Fails if timestamps cannot represent
 * the time.
 */
export function offsetOf(now: Date | string): number {
  const ms = new Date(now).getTime()
  if (Number.isNaN(ms)) throw new RangeError(`now: ${String(now)} is not a time`)
  if (ms < TIME_MS_MIN) throw new RangeError(`now: ${String(now)} is before 1970`)
  if (ms > TIME_MS_MAX) throw new RangeError(`now: ${String(now)} is too late: ${tooFar}`)
  return ms - systemClock.wallMs()
}

type PendingTimer = { readonly dueMs: number; readonly run: () => void; timer: Timer }

/** The clock of a cluster. It runs like the real one, and a test can move it forward. */
export class TestClock {
  readonly #pending = new Set<PendingTimer>()
  readonly #options: TestClockOptions
  #offsetMs: number

  /** @internal */
  constructor(options: TestClockOptions) {
    this.#offsetMs = options.offsetMs
    this.#options = options
  }

  /** Returns the current time of the server. */
  now(): Date {
    return new Date(this.#wallMs())
  }

  /**
   * Moves the clock forward, by milliseconds or a duration such as '1h30m'. When the promise
   * resolves, all store entries that are due have expired, and controllers have been notified. Use
   * `waitFor` to wait for the result of their work.
   */
  async advance(by: number | string): Promise<void> {
    const ms = typeof by === 'number' ? by : durationOf(by)
    if (!(ms >= 0))
      throw new RangeError(`the clock cannot be moved by ${by}: it only moves forward`)
    if (this.#wallMs() + ms > TIME_MS_MAX)
      throw new RangeError(`the clock cannot be moved by ${by}: ${tooFar}`)
    this.#options.onMoving()
    this.#offsetMs += ms
    await this.#options.onMoved()
    const due = [...this.#pending].toSorted((a, b) => a.dueMs - b.dueMs)
    for (const one of due) this.#plan(one)
    await new Promise<void>((resolve) => systemTimers.defer(resolve))
  }

  /** @internal */
  get offsetMs(): number {
    return this.#offsetMs
  }

  /**
   * The clock of the server. A test moves only the wall-clock time, not the monotonic time.
   * @internal
   */
  readonly clock: Clock = { wallMs: () => this.#wallMs(), monotonicMs: systemClock.monotonicMs }

  /**
   * Timers of the server that fire when a test moves the clock past their time.
   * @internal
   */
  readonly timers: Timers = {
    after: (ms, run) => {
      const pending: PendingTimer = {
        dueMs: this.#monotonicMs() + ms,
        run,
        timer: { close: () => undefined },
      }
      this.#pending.add(pending)
      this.#plan(pending)
      return {
        close: () => {
          this.#pending.delete(pending)
          pending.timer.close()
        },
      }
    },
    every: systemTimers.every,
    defer: systemTimers.defer,
  }

  /**
   * The clock of the store. Leases expire when a test moves the clock past their end.
   * @internal
   */
  readonly time: Time = {
    wallMs: () => this.#wallMs(),
    monotonicMs: () => this.#monotonicMs(),
    ...systemTimers,
  }

  #plan(pending: PendingTimer): void {
    pending.timer.close()
    const leftMs = Math.max(0, pending.dueMs - this.#monotonicMs())
    const timer = setTimeout(
      () => {
        this.#pending.delete(pending)
        pending.run()
      },
      Math.min(leftMs, TIMER_MS_MAX),
    )
    timer.unref()
    pending.timer = timer
  }

  #wallMs(): number {
    return systemClock.wallMs() + this.#offsetMs
  }

  #monotonicMs(): number {
    return systemClock.monotonicMs() + this.#offsetMs
  }
}

function durationOf(text: string): number {
  const parsed = parseDuration(text)
  if ('fault' in parsed) throw new RangeError(parsed.fault)
  return parsed.ms
}
