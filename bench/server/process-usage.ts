/** What a process has used, as Linux counts it. Without a process id there is no figure: NaN. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** USER_HZ, which Linux fixes at 100 for /proc on all common machines. */
const TICKS_PER_SECOND = 100
const KIB_PER_MIB = 1024

/**
 * User and system time of the threads that it has now, to the nanosecond where Linux tells it; else
 * of all since the process began.
 */
export function cpuSeconds(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN
  if (existsSync(`/proc/${pid}/schedstat`)) return threadSeconds(pid)
  const fields = statOf(pid)
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** User and system time of the children that have ended, and of theirs. */
export function endedChildrenSeconds(pid: number): number {
  const fields = statOf(pid)
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
}

/** Resident memory now, or the most there ever was. */
export function residentMiB(pid: number | undefined, which: 'now' | 'peak' = 'now'): number {
  if (pid === undefined) return Number.NaN
  const pattern = which === 'now' ? /VmRSS:\s+(\d+)/ : /VmHWM:\s+(\d+)/
  return Number(pattern.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / KIB_PER_MIB
}

/**
 * The second field is the command in brackets and may hold spaces; utime, stime, cutime and cstime
 * are the 12th to 15th after it.
 */
const statOf = (pid: number): string[] =>
  (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '').split(' ')

function threadSeconds(pid: number): number {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    // The first figure of a thread is its time on a processor.
    nanoseconds += Number(
      readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0],
    )
  }
  return nanoseconds / 1e9
}
