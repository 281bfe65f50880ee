/**
 * Sends the same frames to Keelson's HTTP/2 server and to the HTTP/2 server of Node.js (nghttp2).
 * Both must react in the same way, except for the differences that http2-differ/differences.ts
 * lists with their reasons.
 *
 *   node test/chaos/hostile/http2-differ.ts --minutes N --seed S
 *
 * The last line is `N passed, N failed`.
 */
import { parseArgs } from 'node:util'
import { differ } from './http2-differ/differ.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string' } },
})
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
console.log(`seed ${seed}, ${values.minutes} minutes`)
const { passed, failures } = await differ(seed, {
  untilMs: performance.now() + Number(values.minutes) * 60_000,
})
for (const failure of failures) console.log(`FAULT ${failure}`)
console.log(`${passed} passed, ${failures.length} failed`)
process.exit(failures.length > 0 ? 1 : 0)
