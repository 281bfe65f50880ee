/**
 * Measures how long the deletion of a namespace with many objects of many kinds takes, and its CPU
 * time. Run it directly: node bench/parts/controllers/namespace.ts [objects] [kinds]
 */
import { describeFigure } from '../../report/figure.ts'
import { cpuSeconds } from '../../server/process-usage.ts'
import { collectionsOf, inParallel, post, secondsUntil, startControlled } from './load.ts'

const objects = Number(process.argv[2] ?? 10_000)
const kinds = Number(process.argv[3] ?? 30)
const SECONDS_MAX = 15

await using server = await startControlled()
const collections = await collectionsOf(kinds, server)
await post(server, '/api/v1/namespaces', { metadata: { name: 'full' } })
const [first] = collections
await inParallel(objects, async (at) => {
  const collection = collections[at % collections.length] ?? first
  if (collection === undefined) return
  await post(server, collection.path.replace('$ns', 'full'), {
    metadata: { name: `o${at}` },
    ...collection.object,
  })
})
const cpuBefore = cpuSeconds(server.pid)
const namespace = '/api/v1/namespaces/full'
await server.client.ask({ method: 'DELETE', path: namespace })
const seconds = await secondsUntil(
  async () => (await server.client.status({ path: namespace })) === 404,
)
const cpu = cpuSeconds(server.pid) - cpuBefore
const name = `a namespace of ${objects} objects of ${kinds} kinds is gone after`
console.log(describeFigure({ name, value: seconds, unit: 's', target: { below: SECONDS_MAX } }))
console.log(describeFigure({ name: 'CPU of the server during this time', value: cpu, unit: 's' }))
