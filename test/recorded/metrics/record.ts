/**
 * Records the metrics of kube-apiserver, and its counts for the requests in exercise.ts, into
 * recorded.json.
 *
 *   node test/recorded/metrics/record.ts      (then npm run format)
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../compat/client.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startReference } from '../../support/harness/reference.ts'
import { countedOf, exercise } from './exercise.ts'
import { describeMetrics } from './exposition.ts'

await using etcd = await startEtcd()
await using server = await startReference({
  etcdUrl: etcd.clientUrl,
  args: ['--show-hidden-metrics-for-version=1.32'],
})
using client = createClient({ server: server.url, token: server.token })
await exercise(client)
const read = async (path: string): Promise<string> =>
  (await client.request({ method: 'GET', path })).raw.toString()
const text = await read('/metrics')
const all = Object.entries(describeMetrics(text))
const isRuntime = (name: string): boolean => /^(go|process)_/.test(name)
const recorded = {
  metrics: Object.fromEntries(all.filter(([name]) => !isRuntime(name))),
  runtime: all.flatMap(([name]) => (isRuntime(name) ? [name] : [])),
  slis: describeMetrics(await read('/metrics/slis')),
  counted: countedOf(text),
}
const lines = Object.entries(recorded).map(([key, value]) => {
  const inner = Array.isArray(value)
    ? `[\n${value.map((one) => JSON.stringify(one)).join(',\n')}\n]`
    : `{\n${Object.entries(value)
        .map(([name, one]) => `${JSON.stringify(name)}: ${JSON.stringify(one)}`)
        .join(',\n')}\n}`
  return `${JSON.stringify(key)}: ${inner}`
})
writeFileSync(join(import.meta.dirname, 'recorded.json'), `{\n${lines.join(',\n')}\n}\n`)
console.log(`${Object.keys(recorded.metrics).length} metrics, ${recorded.counted.length} counts`)
