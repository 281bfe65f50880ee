import type { Steps } from '../../src/lib/slices.ts'

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

/** What it takes, in milliseconds of this thread's CPU: a machine that does other things, too, makes it no longer. */
export function cpuMsOf(work: () => void): number {
  const since = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(since)
  return (user + system) / 1000
}

/** All steps here and now. */
export function allSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
