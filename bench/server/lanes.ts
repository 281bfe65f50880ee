/**
 * Runs an operation many times with limited concurrency, and measures how much CPU time it takes in
 * the server.
 */
import type { Figures } from './h2load.ts'
import { cpuSeconds } from './process-usage.ts'
import type { Target } from './targets.ts'

export type Lanes = { readonly count: number; readonly lanes: number }

export async function inLanes(
  { count, lanes }: Lanes,
  run: (at: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await run(next++)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/**
 * Runs concurrent lanes, each of which repeats the operation sequentially. `run` returns the number
 * of bytes that it has received.
 */
export async function measureLanes(
  target: Target,
  options: Lanes,
  run: (at: number) => Promise<number>,
): Promise<Figures> {
  const times: number[] = []
  let bytes = 0
  const cpuBefore = cpuSeconds(target.pid)
  const beganMs = performance.now()
  await inLanes(options, async (at) => {
    const startedMs = performance.now()
    bytes += await run(at)
    times.push(performance.now() - startedMs)
  })
  const seconds = (performance.now() - beganMs) / 1000
  times.sort((a, b) => a - b)
  return {
    failed: 0,
    perSecond: options.count / seconds,
    p50: times[Math.floor(times.length / 2)],
    p99: times[Math.floor(times.length * 0.99)],
    megabytes: bytes / 1e6,
    cpuMicros: ((cpuSeconds(target.pid) - cpuBefore) / options.count) * 1e6,
  }
}
