/**
 * A clock whose wall time can jump while its monotonic time continues. Real clocks jump when an
 * operator or NTP changes the time, or when a laptop resumes.
 */
import type { Clock } from '../../../src/lib/time/clock.ts'

export class JumpingClock implements Clock {
  #offsetMs = 0

  jump(byMs: number): void {
    this.#offsetMs += byMs
  }

  readonly wallMs = (): number => Date.now() + this.#offsetMs

  readonly monotonicMs = (): number => performance.now()
}
