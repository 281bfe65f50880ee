/** A load that deletes many objects with one request, as happens when a namespace is deleted. */
import { type Figures, h2load } from './h2load.ts'
import { Http2Client } from './http2-client.ts'
import { measureLanes } from './lanes.ts'
import { createNamespace } from './many-pods.ts'
import type { Target } from './targets.ts'
import type { Workload, WorkloadOptions } from './workloads.ts'

const NAMESPACE = 'bench-deleted'
const OBJECTS = 5000
const configMaps = `/api/v1/namespaces/${NAMESPACE}/configmaps`

export const deleteCollection = ({ scale, directory }: WorkloadOptions): Workload => ({
  name: 'delete-collection',
  about: `DELETE a collection of ${OBJECTS} ConfigMaps of 1 KB, counted per object`,
  prepare: async (target) => {
    using client = new Http2Client(target)
    await createNamespace(client, NAMESPACE)
  },
  run: (target) => measure(target, Math.max(100, Math.round(OBJECTS * scale)), directory),
})

async function measure(target: Target, objects: number, directory: string): Promise<Figures> {
  const metadata = { generateName: 'cm-', labels: { delete: 'yes' } }
  const body = JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { text: 'x'.repeat(1000) },
  })
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  await h2load(target, { uri: configMaps, amount: { requests: objects }, headers, body }, directory)
  using client = new Http2Client(target)
  const sent = { method: 'DELETE', path: `${configMaps}?labelSelector=delete%3Dyes` }
  const figures = await measureLanes(
    target,
    { count: 1, lanes: 1 },
    async () => (await client.ask(sent)).length,
  )
  return {
    ...figures,
    perSecond: figures.perSecond * objects,
    cpuMicros: figures.cpuMicros / objects,
  }
}
