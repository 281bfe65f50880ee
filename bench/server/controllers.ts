/**
 * A load that is typical of controllers: lists and watches in protobuf, events, and status updates
 * as strategic merge patches.
 */
import { filteredPods } from './filtered-lists.ts'
import type { Figures } from './h2load.ts'
import { Http2Client } from './http2-client.ts'
import { inLanes, measureLanes } from './lanes.ts'
import { APPS, appName, createManyPods, createNamespace, podsPath } from './many-pods.ts'
import type { Target } from './targets.ts'
import type { Workload, WorkloadOptions } from './workloads.ts'

const NAMESPACE = 'bench-controllers'
const ROUNDS = 1000
const LANES = 16
const WATCHES = 20
const DEPLOYMENTS = 200

const json = { 'content-type': 'application/json', accept: 'application/json' }
const strategic = {
  'content-type': 'application/strategic-merge-patch+json',
  accept: 'application/json',
}
const protobuf = 'application/vnd.kubernetes.protobuf'
const deployments = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`
const events = `/api/v1/namespaces/${NAMESPACE}/events`

export const controllers = ({ scale }: Pick<WorkloadOptions, 'scale'>): Workload => ({
  name: 'controllers',
  about: `${WATCHES} watches in protobuf; a round is a list by label, a new event and a patch of a Deployment's status`,
  prepare,
  run: (target) => measure(target, Math.max(100, Math.round(ROUNDS * scale))),
})

async function prepare(target: Target): Promise<void> {
  await createManyPods(target, filteredPods)
  using client = new Http2Client(target)
  await createNamespace(client, NAMESPACE)
  if ((await client.ask({ path: deployments })).includes('"d-0"')) return
  await inLanes({ count: DEPLOYMENTS, lanes: LANES }, (at) =>
    client.ask({ method: 'POST', path: deployments, headers: json, body: deployment(at) }),
  )
}

async function measure(target: Target, rounds: number): Promise<Figures> {
  using client = new Http2Client(target)
  let bytesSeen = 0
  const watch = {
    path: `${deployments}?watch=1&resourceVersion=0`,
    headers: { accept: `${protobuf};stream=watch` },
  }
  for (let at = 0; at < WATCHES; at++)
    await client.watch(watch, (piece) => (bytesSeen += piece.length))
  const began = Date.now()
  const figures = await measureLanes(target, { count: rounds, lanes: LANES }, async (at) => {
    const query = `labelSelector=app%3D${appName(at % APPS)}&resourceVersion=0`
    const list = {
      path: `${podsPath(filteredPods.namespace)}?${query}`,
      headers: { accept: protobuf },
    }
    const { length } = await client.ask(list)
    await client.ask({ method: 'POST', path: events, headers: json, body: event(`${began}-${at}`) })
    const path = `${deployments}/d-${at % DEPLOYMENTS}/status`
    await client.ask({
      method: 'PATCH',
      path,
      headers: strategic,
      body: deploymentStatus(`${began}-${at}`),
    })
    return length
  })
  return { ...figures, note: `${(bytesSeen / 1e6).toFixed(0)} MB of events` }
}

const event = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `d.${name}` },
    involvedObject: {
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      name: 'd-0',
      namespace: NAMESPACE,
    },
    reason: 'ScalingReplicaSet',
    message: 'Scaled up replica set d-0-5d4f8c7 from 0 to 1',
    type: 'Normal',
    source: { component: 'bench' },
  })

function deploymentStatus(message: string): string {
  const condition = { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', message }
  return JSON.stringify({ status: { conditions: [condition] } })
}

function deployment(at: number): string {
  const labels = { app: `d-${at}` }
  const spec = { containers: [{ name: 'web', image: 'example.com/web:1' }] }
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `d-${at}` },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  })
}
