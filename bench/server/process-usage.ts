/** What a process has used, as Linux counts it. Without a process id there is no figure: NaN. */
import { readFileSync } from 'node:fs'

/** USER_HZ, which Linux fixes at 100 for /proc on all common machines. */
const TICKS_PER_SECOND = 100
const KIB_PER_MIB = 1024

/** User and system time since the process began. */
export function cpuSeconds(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN
  // The second field is the command in brackets and may hold spaces; utime and stime are the 12th and 13th after it.
  const fields = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '').split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Resident memory now, or the most there ever was. */
export function residentMiB(pid: number | undefined, which: 'now' | 'peak' = 'now'): number {
  if (pid === undefined) return Number.NaN
  const pattern = which === 'now' ? /VmRSS:\s+(\d+)/ : /VmHWM:\s+(\d+)/
  return Number(pattern.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / KIB_PER_MIB
}
