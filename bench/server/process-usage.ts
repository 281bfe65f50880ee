/**
 * Resource usage of a process, as Linux reports it. If the process ID is undefined, every figure is
 * NaN.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Number of ticks per second in /proc (USER_HZ). Linux uses 100 on all common machines. */
const TICKS_PER_SECOND = 100
const KIB_PER_MIB = 1024

/**
 * Returns the user and system time of all current threads in nanosecond resolution, if Linux
 * reports it. Otherwise returns the user and system time since the process started, including ended
 * threads.
 */
export function cpuSeconds(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN
  if (existsSync(`/proc/${pid}/schedstat`)) return threadSeconds(pid)
  const fields = statOf(pid)
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Returns the user and system time of ended child processes and their descendants. */
export function endedChildrenSeconds(pid: number): number {
  const fields = statOf(pid)
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
}

/** Returns the current resident memory, or its peak. */
export function residentMiB(pid: number | undefined, which: 'now' | 'peak' = 'now'): number {
  if (pid === undefined) return Number.NaN
  const pattern = which === 'now' ? /VmRSS:\s+(\d+)/ : /VmHWM:\s+(\d+)/
  return Number(pattern.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / KIB_PER_MIB
}

/**
 * Returns the fields after the command, which is in parentheses and can contain spaces. utime,
 * stime, cutime and cstime are fields 11 to 14, counted from 0.
 */
const statOf = (pid: number): string[] =>
  (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '').split(' ')

function threadSeconds(pid: number): number {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    // The first value in schedstat is the time for which the thread ran on a CPU.
    nanoseconds += Number(
      readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0],
    )
  }
  return nanoseconds / 1e9
}
