/**
 * What the host of a virtual machine took of its processors: time that nobody here had, and that
 * all waited for. A fifth of a minute may go so, in pieces of up to 200 ms, where the server's 99th
 * percentile is 15 ms: without this a bench of waits measures the host.
 */
import { readFileSync } from 'node:fs'

/** In `/proc/stat` after `cpu`: user, nice, system, idle, iowait, irq, softirq, steal. */
const BUSY_FIELDS = 3
const STEAL_AT = 7
/** USER_HZ, which Linux fixes at 100 for /proc on all common machines. */
const TICKS_PER_SECOND = 100

/** Time of all processors since the machine started, in ticks. `busy` is the time of processes. */
export type HostTicks = { readonly all: number; readonly busy: number; readonly stolen: number }

/**
 * Shares of the time of all processors, from 0 to 1: what the host took, and what processes used
 * that are not ours.
 */
export type Disturbance = { readonly stolen: number; readonly others: number }

/**
 * Returns what tells how much of the processors' time was stolen since this was called, from 0 to
 * 1; 0 where the system does not tell.
 */
export function watchHost(): () => number {
  const began = ticks()
  return () => {
    const now = ticks()
    return now.all > began.all ? (now.stolen - began.stolen) / (now.all - began.all) : 0
  }
}

/**
 * Returns a function that reports how much others used the processors since this call. `ourSeconds`
 * is the CPU time of our own processes so far.
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
  // Where the system reports nothing, nothing is known to disturb.
  if (!(all > 0)) return { stolen: 0, others: 0 }
  const busy = after.busy - before.busy - ourSeconds * TICKS_PER_SECOND
  return { stolen: (after.stolen - before.stolen) / all, others: Math.max(0, busy / all) }
}

/**
 * Measures again where the host took more than that, at most so many times. The calmest counts,
 * whatever came out of it.
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

/** Reads the first line of `/proc/stat`. */
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
