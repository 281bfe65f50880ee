/** Lists of some of 10,000 Pods: as kubelets, controllers and `kubectl get -l` ask for them. */
import { type Client, createClient } from '../../test/compat/client.ts'
import type { Figures } from './h2load.ts'
import { cpuSeconds } from './process-usage.ts'
import type { Target } from './targets.ts'
import type { Workload, WorkloadOptions } from './workloads.ts'

const NAMESPACE = 'bench-filtered'
const PODS = 10_000
const NODES = 500
/** Each has one in a hundred Pods. */
const APPS = 100
/** Enough that the processor time, which Linux tells in steps of 10 ms, is known to some percent. */
const LISTS = 300
const LANES = 32

const json = { 'content-type': 'application/json', accept: 'application/json' }

export function filteredLists({ scale }: Pick<WorkloadOptions, 'scale'>): Workload[] {
  const pods = Math.max(NODES, Math.round(PODS * scale))
  const requests = Math.max(10, Math.round(LISTS * scale))
  const load = (name: string, about: string, query: string): Workload => ({
    name,
    about: `LIST ${about} of ${pods} pods, latest`,
    prepare: (target) => createPods(target, pods),
    run: (target) => measure(target, `/api/v1/pods?${query}`, requests),
  })
  return [
    load('list-by-node', `the ${pods / NODES} on one node`, 'fieldSelector=spec.nodeName%3Dn-7'),
    load('list-by-label', 'the 1 % with a label', 'labelSelector=app%3Da-7'),
    load('list-by-none', 'by a label that none has', 'labelSelector=app%3Dnone'),
    load('list-by-name', 'the one with a name', 'fieldSelector=metadata.name%3Dp-7'),
  ]
}

/** By two clients, each of which waits for its answers: a list is long beside what a client of Node's own takes. */
async function measure(target: Target, path: string, requests: number): Promise<Figures> {
  using client = createClient(target)
  const times: number[] = []
  let left = requests
  let bytes = 0
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const beganMs = performance.now()
      bytes += (await get(client, path)).length
      times.push(performance.now() - beganMs)
    }
  }
  const cpuBefore = cpuSeconds(target.pid)
  const beganMs = performance.now()
  await Promise.all([lane(), lane()])
  const seconds = (performance.now() - beganMs) / 1000
  times.sort((a, b) => a - b)
  return {
    failed: 0,
    perSecond: requests / seconds,
    p50: times[Math.floor(times.length / 2)],
    p99: times[Math.floor(times.length * 0.99)],
    megabytes: bytes / 1e6,
    cpuMicros: ((cpuSeconds(target.pid) - cpuBefore) / requests) * 1e6,
  }
}

async function get(client: Client, path: string): Promise<Buffer> {
  const { status, raw } = await client.request({ method: 'GET', path, headers: json })
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${raw.toString('utf8')}`)
  return raw
}

/** Those that are missing. */
async function createPods(target: Target, count: number): Promise<void> {
  using client = createClient(target)
  const post = async (path: string, object: unknown): Promise<void> => {
    const { status, raw } = await client.request({ method: 'POST', path, headers: json, body: JSON.stringify(object) })
    if (status >= 300 && status !== 409)
      throw new Error(`${target.name} POST ${path}: ${status} ${raw.toString('utf8')}`)
  }
  const path = `/api/v1/namespaces/${NAMESPACE}/pods`
  const last = await client.request({ method: 'GET', path: `${path}/p-${count - 1}`, headers: json })
  if (last.status === 200) return
  await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await post(path, pod(next++))
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

/** About 2.4 KB when the server has added what it adds. */
const pod = (index: number): unknown => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `p-${index}`, labels: { app: `a-${index % APPS}`, tier: 'web' } },
  spec: {
    nodeName: `n-${index % NODES}`,
    containers: [
      {
        name: 'web',
        image: 'example.com/web:1',
        env: Array.from({ length: 10 }, (_, at) => ({ name: `VARIABLE_${at}`, value: `value-${at}` })),
        resources: { requests: { cpu: '10m' } },
      },
    ],
  },
})
