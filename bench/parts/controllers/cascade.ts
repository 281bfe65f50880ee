/**
 * Measures how long the dependents of one owner take to be deleted, in the background and in the
 * foreground. Run it directly: node bench/parts/controllers/cascade.ts [dependents]
 */
import { describeFigure } from '../../report/figure.ts'
import { cpuSeconds } from '../../server/process-usage.ts'
import { inParallel, post, secondsUntil, startControlled } from './load.ts'

const dependents = Number(process.argv[2] ?? 10_000)
const SECONDS_MAX = 15

await using server = await startControlled()
const { client } = server
for (const propagationPolicy of ['Background', 'Foreground']) {
  const namespace = propagationPolicy.toLowerCase()
  await post(server, '/api/v1/namespaces', { metadata: { name: namespace } })
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const { metadata } = await post(server, path, { metadata: { name: 'owner' } })
  const owner = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'owner',
    uid: metadata.uid,
    blockOwnerDeletion: true,
  }
  await inParallel(dependents, (at) =>
    post(server, path, { metadata: { name: `d${at}`, ownerReferences: [owner] } }),
  )
  const cpuBefore = cpuSeconds(server.pid)
  await client.ask({
    method: 'DELETE',
    path: `${path}/owner?propagationPolicy=${propagationPolicy}`,
  })
  const seconds = await secondsUntil(async () => {
    const list = JSON.parse((await client.ask({ path: `${path}?limit=1` })).toString())
    return list.items.length === 0
  })
  const name = `${dependents} dependents are gone after, in the ${namespace}`
  console.log(describeFigure({ name, value: seconds, unit: 's', target: { below: SECONDS_MAX } }))
  console.log(
    describeFigure({
      name: 'CPU of the server during this time',
      value: cpuSeconds(server.pid) - cpuBefore,
      unit: 's',
    }),
  )
}
