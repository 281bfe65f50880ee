/**
 * A rolling restart at full size: `node test/soak/rolling.ts`. Three replicas behind a TCP load balancer, 2,000 requests a second and 1,000
 * watchers.
 *
 *   --rate N, --watchers N    a smaller one
 *   --retry-after             with --shutdown-send-retry-after
 */
import { parseArgs } from 'node:util'
import { restartInTurn } from './rolling-restart.ts'

const RATE = 2_000
const WATCHERS = 1_000
const WATCH_GRACE_SECONDS = 4
const DELAY_SECONDS = 2
/** As the server: no fewer watches than this end in a second. */
const ENDS_PER_SECOND_MIN = 200
/** The machine that ends them has other things to do, and so has the one that sees it. */
const SPREAD_SHARE_MIN = 0.5

const { values } = parseArgs({
  options: { rate: { type: 'string' }, watchers: { type: 'string' }, 'retry-after': { type: 'boolean' } },
})
const result = await restartInTurn({
  requestsPerSecond: Number(values.rate ?? RATE),
  watchers: Number(values.watchers ?? WATCHERS),
  watchGraceSeconds: WATCH_GRACE_SECONDS,
  delaySeconds: DELAY_SECONDS,
  args: values['retry-after'] === true ? ['--shutdown-send-retry-after'] : [],
  tell: (line) => console.log(line),
})
const crowded = result.ends.filter(({ count, ms }) => {
  const spreadMs = Math.min(1000 * WATCH_GRACE_SECONDS, (1000 * count) / ENDS_PER_SECOND_MIN)
  return ms < spreadMs * SPREAD_SHARE_MIN
})
const { faults, ...figures } = result
console.log(JSON.stringify(figures))
for (const fault of faults.slice(0, 20)) console.log(`FAULT ${fault}`)
for (const { count, ms } of crowded) console.log(`FAULT ${count} watches ended within ${Math.round(ms)} ms`)
console.log(`${faults.length + crowded.length} faults`)
if (faults.length + crowded.length > 0) process.exitCode = 1
