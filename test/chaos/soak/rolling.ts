/**
 * Rolling restart at full size: `node test/chaos/soak/rolling.ts`. Runs three replicas behind a TCP
 * load balancer, with 2,000 requests per second and 1,000 watchers.
 *
 *   --rate N        requests per second
 *   --watchers N    number of watchers
 *   --retry-after   starts the servers with --shutdown-send-retry-after
 */
import { parseArgs } from 'node:util'
import { restartInTurn } from './rolling-restart.ts'

const RATE = 2_000
const WATCHERS = 1_000
const WATCH_GRACE_SECONDS = 4
const DELAY_SECONDS = 2
/** Minimum number of watches that a server ends per second; the server has the same limit. */
const ENDS_PER_SECOND_MIN = 200
/**
 * Minimum fraction of the expected time over which watches must end. The server and the client
 * compete for the CPU, so the measured time can be shorter than expected.
 */
const SPREAD_SHARE_MIN = 0.5
/**
 * Minimum fraction of the intended requests. If there are fewer requests, the machine could not
 * generate the load, and the result is not conclusive.
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
    ? [`the machine generated only ${figures.requestsPerSecond} requests per second, not ${rate}`]
    : []),
]
for (const fault of faults.slice(0, 20)) console.log(`FAULT ${fault}`)
console.log(`${faults.length} faults`)
if (faults.length > 0) process.exitCode = 1
