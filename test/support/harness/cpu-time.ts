/**
 * Reports how much CPU time a test file used, together with the processes that it started. When the
 * process exits, this module appends a line to the file named by CPU_TIMES: seconds and test file.
 * CI loads it into each test process with `--import`.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { isMainThread } from 'node:worker_threads'

/** The unit of CPU times in /proc, in which Linux reports them to programs on all machines. */
const TICKS_PER_SECOND = 100
/** Positions in /proc/self/stat after the name of the program. */
const OWN_USER_TIME = 11
const TIMES = 4

const report = process.env['CPU_TIMES']
const file = process.argv[1] ?? ''
if (report !== undefined && isMainThread && file.endsWith('.test.ts'))
  process.once('exit', () => {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const ticks = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(OWN_USER_TIME, OWN_USER_TIME + TIMES)
      .reduce((sum, time) => sum + Number(time), 0)
    appendFileSync(report, `${(ticks / TICKS_PER_SECOND).toFixed(1)}\t${relative('.', file)}\n`)
  })
