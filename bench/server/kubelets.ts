/**
 * A load that is typical of kubelets: each watches the Pods of its node, renews a lease and updates
 * the status of its Pods.
 */
import { filteredPods } from './filtered-lists.ts'
import type { Figures } from './h2load.ts'
import { Http2Client } from './http2-client.ts'
import { inLanes, measureLanes } from './lanes.ts'
import { createManyPods, createNamespace, nodeName, podName, podsPath } from './many-pods.ts'
import { lease, versionOf } from './node-lease.ts'
import type { Target } from './targets.ts'
import type { Workload, WorkloadOptions } from './workloads.ts'

const NAMESPACE = 'bench-kubelets'
const KUBELETS = filteredPods.nodes
const ROUNDS = 1000
const LANES = 16

const json = { 'content-type': 'application/json', accept: 'application/json' }
const strategic = {
  'content-type': 'application/strategic-merge-patch+json',
  accept: 'application/json',
}
const leases = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`

export const kubelets = ({ scale }: Pick<WorkloadOptions, 'scale'>): Workload => ({
  name: 'kubelets',
  about: `${KUBELETS} kubelets, each with a watch of its Pods; a round renews a lease and patches the status of a Pod`,
  prepare,
  warmUps: 1,
  run: (target) => measure(target, Math.max(100, Math.round(ROUNDS * scale))),
})

async function prepare(target: Target): Promise<void> {
  await createManyPods(target, filteredPods)
  using client = new Http2Client(target)
  await createNamespace(client, NAMESPACE)
  if ((await client.ask({ path: leases })).includes(nodeName(0))) return
  await inLanes({ count: KUBELETS, lanes: LANES }, (at) =>
    client.ask({ method: 'POST', path: leases, headers: json, body: lease(at) }),
  )
}

async function measure(target: Target, rounds: number): Promise<Figures> {
  using connections = new DisposableStack()
  const players: Kubelet[] = []
  for (let at = 0; at < KUBELETS; at++)
    players.push(new Kubelet(connections.use(new Http2Client(target)), at))
  await inLanes({ count: KUBELETS, lanes: LANES }, async (at) => await players[at]?.start())
  const message = `at ${Date.now()}`
  const figures = await measureLanes(target, { count: rounds, lanes: LANES }, async (at) => {
    const kubelet = players[at % KUBELETS]
    await kubelet?.renew()
    await kubelet?.patchStatus(podName(at % filteredPods.count), message)
    return 0
  })
  const bytesSeen = players.reduce((sum, kubelet) => sum + kubelet.bytesSeen, 0)
  return { ...figures, note: `${(bytesSeen / 1e6).toFixed(0)} MB of events` }
}

class Kubelet {
  bytesSeen = 0
  readonly #client: Http2Client
  readonly #at: number
  /** resourceVersion of the node's lease, which each update must contain. */
  #version: string | undefined

  constructor(client: Http2Client, at: number) {
    this.#client = client
    this.#at = at
  }

  async start(): Promise<void> {
    const path = `/api/v1/pods?watch=1&resourceVersion=0&fieldSelector=spec.nodeName%3D${nodeName(this.#at)}`
    await this.#client.watch({ path }, (piece) => (this.bytesSeen += piece.length))
    this.#version = versionOf(await this.#client.ask({ path: `${leases}/${nodeName(this.#at)}` }))
  }

  async renew(): Promise<void> {
    const path = `${leases}/${nodeName(this.#at)}`
    const body = lease(this.#at, this.#version)
    this.#version = versionOf(await this.#client.ask({ method: 'PUT', path, headers: json, body }))
  }

  async patchStatus(pod: string, message: string): Promise<void> {
    const path = `${podsPath(filteredPods.namespace)}/${pod}/status`
    await this.#client.ask({ method: 'PATCH', path, headers: strategic, body: podStatus(message) })
  }
}

const podStatus = (message: string): string =>
  JSON.stringify({
    status: {
      phase: 'Running',
      podIP: '10.1.1.1',
      message,
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  })
