/**
 * A clock whose date jumps while time goes on: what an operator, NTP or a resumed laptop does to a
 * server.
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
