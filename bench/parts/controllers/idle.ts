/**
 * Measures what idle controllers cost: the CPU time of a server with all controllers, minus that of
 * a server without controllers. Run it directly: node bench/parts/controllers/idle.ts [seconds]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { describeFigure } from '../../report/figure.ts'
import { cpuSeconds } from '../../server/process-usage.ts'
import { startControlled } from './load.ts'

const seconds = Number(process.argv[2] ?? 60)
/** Wait after a start, long enough for the startup work and V8's compilation to finish. */
const SETTLE_MS = 20_000
const PERCENT_MAX = 0.5

await using without = await startControlled('')
await using controlled = await startControlled('*,token-cleaner-controller')
await sleep(SETTLE_MS)
const pids = [without.pid, controlled.pid]
const before = pids.map(cpuSeconds)
await sleep(1000 * seconds)
const [base = 0, all = 0] = pids.map(
  (pid, at) => (100 * (cpuSeconds(pid) - (before[at] ?? 0))) / seconds,
)
console.log(describeFigure({ name: 'an idle server without controllers', value: base, unit: '%' }))
console.log(describeFigure({ name: 'an idle server with all controllers', value: all, unit: '%' }))
const target = { below: PERCENT_MAX }
console.log(
  describeFigure({
    name: 'cost of idle controllers, of a core',
    value: all - base,
    unit: '%',
    target,
  }),
)
