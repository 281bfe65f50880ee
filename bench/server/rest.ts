/**
 * The writes of an idle cluster: nodes renew their leases, and every third write is a node status.
 * They are sent one at a time, about eighty per second. The server therefore wakes up for each
 * write instead of always being busy. The watches of controllers are open as well, each on a
 * separate connection.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Figures } from './h2load.ts'
import { Http2Client } from './http2-client.ts'
import { inLanes } from './lanes.ts'
import { createNamespace, nodeName } from './many-pods.ts'
import { lease, versionOf } from './node-lease.ts'
import { cpuSeconds } from './process-usage.ts'
import type { Target } from './targets.ts'
import type { Workload, WorkloadOptions } from './workloads.ts'

const NAMESPACE = 'bench-rest'
const NODES = 200
const LANES = 8
/** Rate of 500 kubelets that each renew a lease every 10 s and send half as many status updates. */
const WRITES_PER_SECOND = 80
const SECONDS = 10
/** Number of writes per update of a node status. All other writes renew leases. */
const STATUS_EVERY = 3

const json = { 'content-type': 'application/json', accept: 'application/json' }
const strategic = {
  'content-type': 'application/strategic-merge-patch+json',
  accept: 'application/json',
}
const protobuf = 'application/vnd.kubernetes.protobuf;stream=watch'
const leases = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`
const nodes = '/api/v1/nodes'

/**
 * The watches that the components of a cluster open. kwok watches nodes and Leases in JSON, the
 * node lifecycle controller watches both in protobuf, and the scheduler watches nodes.
 */
const watches = [
  { path: nodes, accept: 'application/json' },
  { path: nodes, accept: protobuf },
  { path: nodes, accept: protobuf },
  { path: leases, accept: 'application/json' },
  { path: leases, accept: protobuf },
]

export const rest = ({ scale }: Pick<WorkloadOptions, 'scale'>): Workload => ({
  name: 'rest',
  about: `${WRITES_PER_SECOND} writes a second, one at a time: renewed leases and patched node statuses, with ${watches.length} watches; the figure is CPU`,
  prepare,
  warmUps: 1,
  run: (target) => measure(target, Math.max(1, SECONDS * scale)),
})

async function prepare(target: Target): Promise<void> {
  using client = new Http2Client(target)
  await createNamespace(client, NAMESPACE)
  if ((await client.ask({ path: leases })).includes(nodeName(NODES - 1))) return
  await inLanes({ count: NODES, lanes: LANES }, async (at) => {
    await client.ask({ method: 'POST', path: nodes, headers: json, body: node(at) })
    await client.ask({ method: 'POST', path: leases, headers: json, body: lease(at) })
  })
}

async function measure(target: Target, seconds: number): Promise<Figures> {
  using connections = new DisposableStack()
  let bytes = 0
  for (const { path, accept } of watches) {
    const watcher = connections.use(new Http2Client(target))
    await watcher.watch(
      { path: `${path}?watch=1`, headers: { accept } },
      (piece) => (bytes += piece.length),
    )
  }
  const writer = connections.use(new Writer(target))
  await writer.start()
  const times: number[] = []
  const cpuBefore = cpuSeconds(target.pid)
  const beganMs = performance.now()
  const count = Math.round(seconds * WRITES_PER_SECOND)
  const writes: Promise<void>[] = []
  for (let at = 0; at < count; at++) {
    await sleep(Math.max(0, beganMs + (at * 1000) / WRITES_PER_SECOND - performance.now()))
    const startedMs = performance.now()
    writes.push(writer.write(at).then(() => void times.push(performance.now() - startedMs)))
  }
  await Promise.all(writes)
  const passed = (performance.now() - beganMs) / 1000
  const cpu = cpuSeconds(target.pid) - cpuBefore
  times.sort((a, b) => a - b)
  return {
    failed: 0,
    perSecond: count / passed,
    p50: times[Math.floor(times.length / 2)],
    p99: times[Math.floor(times.length * 0.99)],
    megabytes: bytes / 1e6,
    cpuMicros: (cpu / count) * 1e6,
  }
}

class Writer implements Disposable {
  readonly #client: Http2Client
  /** resourceVersion of each lease, which the next update must contain. */
  readonly #versions: Promise<string | undefined>[] = []

  constructor(target: Target) {
    this.#client = new Http2Client(target)
  }

  [Symbol.dispose](): void {
    this.#client[Symbol.dispose]()
  }

  async start(): Promise<void> {
    for (let at = 0; at < NODES; at++)
      this.#versions.push(
        Promise.resolve(versionOf(await this.#client.ask({ path: `${leases}/${nodeName(at)}` }))),
      )
  }

  async write(at: number): Promise<void> {
    const index = at % NODES
    if (at % STATUS_EVERY === 0) {
      const path = `${nodes}/${nodeName(index)}/status`
      await this.#client.ask({ method: 'PATCH', path, headers: strategic, body: status() })
      return
    }
    const renewed = this.#renew(index, this.#versions[index])
    this.#versions[index] = renewed
    await renewed
  }

  async #renew(
    index: number,
    version: Promise<string | undefined> | undefined,
  ): Promise<string | undefined> {
    const path = `${leases}/${nodeName(index)}`
    const body = lease(index, await version)
    return versionOf(await this.#client.ask({ method: 'PUT', path, headers: json, body }))
  }
}

const conditionTypes = [
  'Ready',
  'OutOfDisk',
  'MemoryPressure',
  'DiskPressure',
  'NetworkUnavailable',
]

const conditions = (): unknown[] =>
  conditionTypes.map((type) => ({
    type,
    status: type === 'Ready' ? 'True' : 'False',
    reason: type === 'Ready' ? 'KubeletReady' : `KubeletHasNo${type}`,
    message: type === 'Ready' ? 'kubelet is posting ready status' : `kubelet has no ${type}`,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    lastHeartbeatTime: new Date().toISOString().replace(/\.\d+Z/, 'Z'),
  }))

/**
 * Returns a status that differs from all earlier ones. The times of heartbeats are not enough,
 * because two heartbeats within a second are equal.
 */
const status = (): string =>
  JSON.stringify({
    status: { conditions: conditions(), nodeInfo: { ...nodeInfo, bootID: `${performance.now()}` } },
  })

const nodeInfo = {
  machineID: '',
  systemUUID: '',
  bootID: '',
  kernelVersion: '6.1.0',
  osImage: 'Debian',
  containerRuntimeVersion: 'containerd://2.0.0',
  kubeletVersion: 'v1.33.4',
  kubeProxyVersion: '',
  operatingSystem: 'linux',
  architecture: 'amd64',
}

function node(at: number): string {
  const resources = { cpu: '32', memory: '256Gi', pods: '110' }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName(at),
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
      labels: { 'kubernetes.io/hostname': nodeName(at), type: 'kwok' },
    },
    status: { allocatable: resources, capacity: resources, conditions: conditions(), nodeInfo },
  })
}
