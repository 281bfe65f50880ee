import { Slices } from '../../../src/lib/scheduling/slices.ts'
import { systemTime, type Time } from '../../../src/lib/time/timers.ts'

/** How often others get their turns of the event loop while something is done. */
export async function turnsDuring(work: () => Promise<void>): Promise<number> {
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isDone = true
  return turns
}

/** The longest that it kept the event loop, in milliseconds of this thread's CPU. */
export async function longestTurnMs(work: () => Promise<void>): Promise<number> {
  let longestMs = 0
  let isDone = false
  let before = process.threadCpuUsage()
  const count = (): void => {
    const { user, system } = process.threadCpuUsage(before)
    longestMs = Math.max(longestMs, (user + system) / 1000)
    before = process.threadCpuUsage()
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isDone = true
  count()
  return longestMs
}

/**
 * Like `longestTurnMs`, but the best of three: in some of them code is compiled, or garbage
 * collected.
 */
export async function bestLongestTurnMs(work: () => Promise<void>): Promise<number> {
  let bestMs = Infinity
  for (let times = 0; times < 3; times++) bestMs = Math.min(bestMs, await longestTurnMs(work))
  return bestMs
}

/**
 * What it takes, in milliseconds of this thread's CPU: a machine that does other things, too, makes
 * it no longer.
 */
export function cpuMsOf(work: () => void): number {
  const since = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(since)
  return (user + system) / 1000
}

/** Runs all steps in one turn. */
export { atOnce as allSteps } from '../../../src/lib/scheduling/slices.ts'

/** An event loop of its own, with many long lists on it. */
export class BusyLoop implements AsyncDisposable {
  readonly time: Time
  #nowMs = 0
  #due: (() => void)[] = []
  #isListing = true
  readonly #lists: readonly Promise<void>[]

  constructor() {
    // Each look at the clock takes a quarter of a slice.
    const monotonicMs = (): number => (this.#nowMs += 0.25)
    this.time = { ...systemTime, monotonicMs, defer: (run) => void this.#due.push(run) }
    this.#lists = Array.from({ length: 40 }, async () => {
      const slices = new Slices(this.time)
      while (this.#isListing) await slices.turn()
    })
  }

  /** How many turns pass until it holds. */
  async turnsUntil(holds: () => boolean): Promise<number> {
    let turns = 0
    for (; !holds(); turns++) await this.#turn()
    return turns
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isListing = false
    while (this.#due.length > 0) await this.#turn()
    await Promise.all(this.#lists)
  }

  async #turn(): Promise<void> {
    const due = this.#due
    this.#due = []
    for (const run of due) run()
    await new Promise((resolve) => setImmediate(resolve))
  }
}
