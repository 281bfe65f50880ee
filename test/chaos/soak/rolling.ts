/**
 * A rolling restart at full size: `node test/chaos/soak/rolling.ts`. Three replicas behind a TCP
 * load balancer, 2,000 requests a second and 1,000 watchers.
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
/**
 * Of the requests that were to be sent: with fewer, the machine could not drive the load, and
 * nothing is shown of it.
 */
const RATE_SHARE_MIN = 0.9

const { values } = parseArgs({
  options: {
    rate: { type: 'string' },
    watchers: { type: 'string' },
    'retry-after': { type: 'boolean' },
  },
})
const rate = Number(values.rate ?? RATE)
const result = await restartInTurn({
  requestsPerSecond: rate,
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
const { faults: failed, ...figures } = result
console.log(JSON.stringify(figures))
const faults = [
  ...failed,
  ...crowded.map(({ count, ms }) => `${count} watches ended within ${Math.round(ms)} ms`),
  ...(figures.requestsPerSecond < rate * RATE_SHARE_MIN
    ? [`the machine drove ${figures.requestsPerSecond} requests a second, not ${rate}`]
    : []),
]
for (const fault of faults.slice(0, 20)) console.log(`FAULT ${fault}`)
console.log(`${faults.length} faults`)
if (faults.length > 0) process.exitCode = 1
