import { Slices } from '../../../src/lib/scheduling/slices.ts'
import { systemTime, type Time } from '../../../src/lib/time/timers.ts'

/**
 * Returns the number of ticks of the event loop during `work`. Other work can run in each of these
 * ticks.
 */
export async function turnsDuring(work: () => Promise<void>): Promise<number> {
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  try {
    await work()
  } finally {
    isDone = true
  }
  return turns
}

/**
 * Returns the longest tick of the event loop during `work`, in milliseconds of CPU time of this
 * thread.
 */
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
  try {
    await work()
  } finally {
    isDone = true
  }
  count()
  return longestMs
}

/** A tick of this duration meets the limit of every test. */
const SHORT_TICK_MS = 25

/**
 * Like `longestTurnMs`, but runs `work` up to three times, until the longest tick is short. Returns
 * the lowest result. A single run can be affected by compilation or garbage collection.
 */
export async function bestLongestTurnMs(work: () => Promise<void>): Promise<number> {
  let bestMs = Infinity
  for (let times = 0; times < 3 && bestMs >= SHORT_TICK_MS; times++)
    bestMs = Math.min(bestMs, await longestTurnMs(work))
  return bestMs
}

/**
 * Returns the CPU time that `work` takes on this thread, in milliseconds. Unlike elapsed time, it
 * does not depend on other programs.
 */
export function cpuMsOf(work: () => void): number {
  const since = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(since)
  return (user + system) / 1000
}

/** Runs an operation that can be divided into steps completely in one tick. */
export { atOnce as allSteps } from '../../../src/lib/scheduling/slices.ts'

/** A simulated event loop on which 40 long lists are being processed all the time. */
export class BusyLoop implements AsyncDisposable {
  readonly time: Time
  #nowMs = 0
  #due: (() => void)[] = []
  #isListing = true
  readonly #lists: readonly Promise<void>[]

  constructor() {
    // Each read of the clock advances the time by a quarter of a time slice.
    const monotonicMs = (): number => (this.#nowMs += 0.25)
    this.time = { ...systemTime, monotonicMs, defer: (run) => void this.#due.push(run) }
    this.#lists = Array.from({ length: 40 }, async () => {
      const slices = new Slices(this.time)
      while (this.#isListing) await slices.turn()
    })
  }

  /** Returns the number of ticks until the condition holds. */
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
