/**
 * A clock whose wall time jumps while its monotonic time continues, as caused by an operator, NTP
 * or a resumed laptop.
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
