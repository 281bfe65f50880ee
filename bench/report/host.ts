/**
 * Measures steal time, which is CPU time that the host of a virtual machine withholds from it.
 * Steal time delays every process. It can be 20 % of a minute, in slices of up to 200 ms, while the
 * server's 99th percentile is 15 ms. Latency benchmarks that ignored steal time would therefore
 * measure the host.
 */
import { readFileSync } from 'node:fs'

/**
 * The fields in `/proc/stat` after `cpu` are: user, nice, system, idle, iowait, irq, softirq,
 * steal.
 */
const BUSY_FIELDS = 3
const STEAL_AT = 7
/** Number of ticks per second in /proc (USER_HZ). Linux uses 100 on all common machines. */
const TICKS_PER_SECOND = 100

/**
 * Total time of all processors since the machine started, in ticks. `busy` is the time in which
 * processes ran.
 */
export type HostTicks = { readonly all: number; readonly busy: number; readonly stolen: number }

/**
 * Shares of the CPU time of all processors, from 0 to 1: `stolen` is steal time, and `others` is
 * the share that processes other than ours used.
 */
export type Disturbance = { readonly stolen: number; readonly others: number }

/**
 * Returns a function that reports the share of steal time in all CPU time since this call, from 0
 * to 1. Systems that do not report steal time have a share of 0.
 */
export function watchHost(): () => number {
  const began = ticks()
  return () => {
    const now = ticks()
    return now.all > began.all ? (now.stolen - began.stolen) / (now.all - began.all) : 0
  }
}

/**
 * Returns a function that reports the share of steal time since this call, and the share of CPU
 * time that other processes have used. `ourSeconds` returns the CPU time that our own processes
 * have used so far.
 */
export function watchOthers(ourSeconds: () => number): () => Disturbance {
  const [began, oursBefore] = [ticks(), ourSeconds()]
  return () => disturbanceOf(began, ticks(), ourSeconds() - oursBefore)
}

export function disturbanceOf(
  before: HostTicks,
  after: HostTicks,
  ourSeconds: number,
): Disturbance {
  const all = after.all - before.all
  // On a system without /proc/stat, all counters are 0. The measurement then counts as undisturbed.
  if (!(all > 0)) return { stolen: 0, others: 0 }
  const busy = after.busy - before.busy - ourSeconds * TICKS_PER_SECOND
  return { stolen: (after.stolen - before.stolen) / all, others: Math.max(0, busy / all) }
}

/**
 * Repeats the measurement while the share of steal time exceeds `stolenMax`, up to `tries` times.
 * Returns the run with the least steal time, even if its result is worse than that of others.
 */
export async function calmest<Result extends { readonly stolen: number }>(
  measure: () => Promise<Result>,
  { stolenMax, tries }: { readonly stolenMax: number; readonly tries: number },
): Promise<{ readonly best: Result; readonly all: readonly Result[] }> {
  const all: Result[] = []
  for (let last = Infinity; last > stolenMax && all.length < tries; ) {
    const result = await measure()
    all.push(result)
    last = result.stolen
  }
  return { best: all.reduce((calm, one) => (one.stolen < calm.stolen ? one : calm)), all }
}

const ticks = (): HostTicks => parseTicks(readStat())

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0)

/** Parses the first line of `/proc/stat`. */
export function parseTicks(stat: string): HostTicks {
  const [, ...fields] = stat.split(/\s+/, STEAL_AT + 2).map(Number)
  return {
    all: sum(fields),
    busy: sum(fields.slice(0, BUSY_FIELDS)),
    stolen: fields[STEAL_AT] ?? 0,
  }
}

function readStat(): string {
  try {
    return readFileSync('/proc/stat', 'utf8')
  } catch {
    return ''
  }
}
