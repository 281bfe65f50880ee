/**
 * A clock that stands still until a test advances it. During the call that advances it, all timers
 * that become due run in order, each at its own time.
 */
import type { Time, Timer } from '../../../src/lib/time/timers.ts'

type DueTimer = { readonly atMs: number; readonly order: number; readonly run: () => void }

export class SteppedTime implements Time {
  #nowMs = 0
  #orders = 0
  #due: DueTimer[] = []

  readonly monotonicMs = (): number => this.#nowMs
  readonly wallMs = (): number => Date.UTC(2026, 0, 1) + this.#nowMs

  readonly after = (ms: number, run: () => void): Timer => {
    const due = { atMs: this.#nowMs + Math.max(ms, 0), order: this.#orders++, run }
    const place = this.#due.findIndex(({ atMs }) => atMs > due.atMs)
    this.#due.splice(place === -1 ? this.#due.length : place, 0, due)
    return { close: () => (this.#due = this.#due.filter((other) => other !== due)) }
  }

  readonly every = (ms: number, run: () => void): Timer => {
    let next = this.after(ms, () => again())
    const again = (): void => {
      next = this.after(ms, again)
      run()
    }
    return { close: () => next.close() }
  }

  readonly defer = (run: () => void): void => void this.after(0, run)

  advance(ms: number): void {
    const endMs = this.#nowMs + ms
    for (let next = this.#due[0]; next !== undefined && next.atMs <= endMs; next = this.#due[0]) {
      this.#due.shift()
      this.#nowMs = next.atMs
      next.run()
    }
    this.#nowMs = endMs
  }
}
