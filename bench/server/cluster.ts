/**
 * `npm run bench -- --only cluster [--reference] [--nodes N] [--pods M]`: measures the API server
 * of a whole cluster. kube-controller-manager, kube-scheduler and kwok, which simulates the
 * kubelets of N nodes, bring M Pods of Deployments to the phase Running. Then the cluster is idle.
 * The servers are measured one after the other, each with its own etcd.
 */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient } from '../../test/recorded/compat/client.ts'
import { isRecord } from '../../test/recorded/compat/json.ts'
import type { ApiServerProcess } from '../../test/support/harness/api-server.ts'
import { Component, startComponent } from '../../test/support/harness/component.ts'
import { type EtcdProcess, freePorts, startEtcd } from '../../test/support/harness/etcd.ts'
import { readRevision } from '../../test/support/harness/gateway.ts'
import { kubectlFor } from '../../test/support/harness/kubectl.ts'
import { startReference } from '../../test/support/harness/reference.ts'
import type { Figure } from '../report/figure.ts'
import { PackagedKeelson } from './packaged.ts'
import { Probe, type Waits } from './probe.ts'
import { cpuSeconds, residentMiB } from './process-usage.ts'
import { describeMore, type RequestCounts, requestCounts } from './request-counts.ts'

const PODS_PER_DEPLOYMENT = 100
/** Number of concurrent requests that create nodes. */
const LANES = 16
/** Time for the components to acquire their leases and to list the resources that they watch. */
const SETTLE_MS = 8_000
const POLL_MS = 500
/** Maximum wait until all Pods are Running. A cluster that takes longer is stuck. */
const RUNNING_MAX_MS = 15 * 60_000
/**
 * Wait before the idle measurement, because controllers still write statuses and events after all
 * Pods are Running.
 */
const CALM_MS = 10_000
/**
 * Duration of a node's Lease, as kubelets set it. Each Lease is renewed whenever a quarter of its
 * duration has passed.
 */
const LEASE_SECONDS = 40
/**
 * Duration of the idle measurement, in which each Lease is renewed six times. kwok renews the
 * Leases of all nodes in a burst, and a burst at the beginning or end can fall outside of the
 * measurement. Therefore CPU time is also reported per write.
 */
const REST_MS = 6 * (LEASE_SECONDS / 4) * 1000

export type ClusterOptions = {
  readonly nodes: number
  readonly pods: number
  readonly reference: boolean
}

type Run = {
  readonly readySeconds: number
  readonly runningSeconds: number
  readonly nodesCpuSeconds: number
  readonly cpuSeconds: number
  readonly etcdCpuSeconds: number
  readonly rest: Rest
  readonly endMiB: number
  readonly restMiB: number
  readonly peakMiB: number
  readonly probe: Waits
}

type Rest = {
  readonly corePercent: number
  /** Number of writes, computed from etcd's revision. */
  readonly writes: number
  readonly cpuMillisPerWrite: number
  /** Number of requests, from the server's own metrics. A watch is counted when it ends. */
  readonly requests: number
  readonly cpuMillisPerRequest: number
  /** The most frequent kinds of requests, and how often each was sent. */
  readonly most: string
}

export async function benchCluster(options: ClusterOptions): Promise<Figure[]> {
  const theirs = options.reference ? await runCluster('reference', options) : undefined
  const ours = await runCluster('keelson', options)
  return theirs === undefined ? figuresOf(ours) : compare(ours, theirs)
}

async function runCluster(
  name: 'keelson' | 'reference',
  { nodes, pods }: ClusterOptions,
): Promise<Run> {
  await using etcd = await startEtcd()
  // These limits of the server are high enough not to affect the result. The rate limits of the
  // clients are raised below.
  const limits = ['--max-requests-inflight=4000', '--max-mutating-requests-inflight=2000']
  const args = ['--disable-admission-plugins=', '--authorization-mode=AlwaysAllow', ...limits]
  using keelson = new PackagedKeelson()
  const options = { etcdUrl: etcd.clientUrl, args }
  await using server = await (name === 'keelson' ? keelson.start(options) : startReference(options))
  await using components = new AsyncDisposableStack()
  await startComponents(server, components)
  await sleep(SETTLE_MS)
  const run = await measure({ server, etcd, nodes, pods })
  console.log(describeRun(name, run))
  return run
}

async function startComponents(
  server: ApiServerProcess,
  started: AsyncDisposableStack,
): Promise<void> {
  const kubectl = started.use(await kubectlFor(server))
  const kubeconfig = join(kubectl.dir, 'config')
  started.use(
    await startComponent('kube-controller-manager', kubeconfig, [
      `--service-account-private-key-file=${join(server.dir, 'sa.key')}`,
      `--root-ca-file=${join(server.dir, 'apiserver.crt')}`,
      '--kube-api-qps=500',
      '--kube-api-burst=1000',
      '--concurrent-deployment-syncs=20',
      '--concurrent-replicaset-syncs=20',
    ]),
  )
  started.use(
    await startComponent('kube-scheduler', kubeconfig, [
      '--kube-api-qps=1000',
      '--kube-api-burst=2000',
    ]),
  )
  const [port = 0] = await freePorts(1)
  // Without a configuration, kwok uses its built-in stages without delays: a node becomes Ready and
  // a Pod Running as soon as kwok receives it.
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    '--manage-all-nodes=true',
    `--node-lease-duration-seconds=${LEASE_SECONDS}`,
    `--server-address=127.0.0.1:${port}`,
    '--v=WARN',
  ]
  started.use(new Component('kwok', await mkdtemp(join(tmpdir(), 'keelson-kwok-')), flags))
}

type MeasuredCluster = {
  readonly server: ApiServerProcess
  readonly etcd: EtcdProcess
  readonly nodes: number
  readonly pods: number
}

async function measure({ server, etcd, nodes, pods }: MeasuredCluster): Promise<Run> {
  const target = { name: 'server', server: server.url, token: server.token }
  using client = createClient(target)
  using probe = new Probe(target)
  const usage = (): { atMs: number; cpu: number; etcdCpu: number } => ({
    atMs: performance.now(),
    cpu: cpuSeconds(server.pid),
    etcdCpu: cpuSeconds(etcd.pid),
  })
  const empty = usage()
  await createNodes(client, nodes)
  await until(`${nodes} nodes Ready`, async () => (await readyNodes(client)) === nodes)
  const ready = usage()
  for (let at = 0; at < pods; at += PODS_PER_DEPLOYMENT)
    await post(
      client,
      '/apis/apps/v1/namespaces/default/deployments',
      deployment(at, Math.min(PODS_PER_DEPLOYMENT, pods - at)),
    )
  await until(`${pods} pods Running`, () => areRunning(client, pods))
  const running = usage()
  const endMiB = residentMiB(server.pid)
  const probed = await probe.stop()

  await sleep(CALM_MS)
  const rest = await measureRest({ server, etcd, client })
  return {
    readySeconds: (ready.atMs - empty.atMs) / 1000,
    runningSeconds: (running.atMs - ready.atMs) / 1000,
    nodesCpuSeconds: ready.cpu - empty.cpu,
    cpuSeconds: running.cpu - ready.cpu,
    etcdCpuSeconds: running.etcdCpu - ready.etcdCpu,
    rest,
    endMiB,
    restMiB: residentMiB(server.pid),
    peakMiB: residentMiB(server.pid, 'peak'),
    probe: probed,
  }
}

async function measureRest({
  server,
  etcd,
  client,
}: Pick<MeasuredCluster, 'server' | 'etcd'> & { client: Client }): Promise<Rest> {
  const counted = await requestCounts(client)
  const revision = await readRevision(etcd.clientUrl)
  const cpu = cpuSeconds(server.pid)
  const beganMs = performance.now()
  await sleep(REST_MS)
  const cpuMillis = (cpuSeconds(server.pid) - cpu) * 1000
  const passedMs = performance.now() - beganMs
  const writes = (await readRevision(etcd.clientUrl)) - revision
  const countedAfter = await requestCounts(client)
  const requests = total(countedAfter) - total(counted)
  return {
    corePercent: (cpuMillis / passedMs) * 100,
    writes,
    cpuMillisPerWrite: cpuMillis / writes,
    requests,
    cpuMillisPerRequest: cpuMillis / requests,
    most: describeMore(counted, countedAfter),
  }
}

const total = (counts: RequestCounts): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0)

async function createNodes(client: Client, count: number): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await post(client, '/api/v1/nodes', node(next++))
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

async function readyNodes(client: Client): Promise<number> {
  const nodes = await itemsOf(client, '/api/v1/nodes?resourceVersion=0')
  return nodes.filter((object) =>
    arrayAt(object, 'status', 'conditions').some(
      (condition) =>
        valueAt(condition, 'type') === 'Ready' && valueAt(condition, 'status') === 'True',
    ),
  ).length
}

/**
 * Returns whether the Deployments have created all their Pods, and all Pods are in the phase
 * Running.
 */
async function areRunning(client: Client, count: number): Promise<boolean> {
  const deployments = await itemsOf(
    client,
    '/apis/apps/v1/namespaces/default/deployments?resourceVersion=0',
  )
  const made = deployments.reduce<number>(
    (sum, object) => sum + Number(valueAt(object, 'status', 'replicas') ?? 0),
    0,
  )
  if (made < count) return false
  const others =
    '/api/v1/namespaces/default/pods?resourceVersion=0&fieldSelector=status.phase!%3DRunning'
  return (await itemsOf(client, others)).length === 0
}

async function until(what: string, isReached: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + RUNNING_MAX_MS
  while (!(await isReached())) {
    if (performance.now() > deadlineMs)
      throw new Error(`${what}: not reached within ${RUNNING_MAX_MS / 1000} s`)
    await sleep(POLL_MS)
  }
}

async function post(client: Client, path: string, object: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const { status, raw } = await client.request({
    method: 'POST',
    path,
    headers,
    body: JSON.stringify(object),
  })
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${raw.toString('utf8')}`)
}

async function itemsOf(client: Client, path: string): Promise<readonly unknown[]> {
  const { status, raw } = await client.request({ method: 'GET', path })
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${raw.toString('utf8')}`)
  return arrayAt(JSON.parse(raw.toString('utf8')), 'items')
}

const valueAt = (object: unknown, ...path: readonly string[]): unknown =>
  path.reduce((value, key) => (isRecord(value) ? value[key] : undefined), object)

function arrayAt(object: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = valueAt(object, ...path)
  return Array.isArray(value) ? value : []
}

function node(index: number): unknown {
  const resources = { cpu: '32', memory: '256Gi', pods: '110' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: `node-${index}`,
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
      labels: { 'kubernetes.io/hostname': `node-${index}`, type: 'kwok' },
    },
    status: { allocatable: resources, capacity: resources },
  }
}

function deployment(index: number, replicas: number): unknown {
  const labels = { app: `app-${index}` }
  const container = {
    name: 'web',
    image: 'example.com/web:1',
    resources: { requests: { cpu: '10m' } },
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `app-${index}` },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  }
}

const waits = ({ p50, p99, max }: Waits): string =>
  `${p50.toFixed(1)}, ${p99.toFixed(1)}, ${max.toFixed(0)} ms`

function describeRun(name: string, run: Run): string {
  return [
    `${name}: nodes Ready after ${run.readySeconds.toFixed(1)} s with ${run.nodesCpuSeconds.toFixed(1)} s of CPU`,
    `pods Running after ${run.runningSeconds.toFixed(1)} s with ${run.cpuSeconds.toFixed(1)} s of CPU (etcd ${run.etcdCpuSeconds.toFixed(1)} s)`,
    describeRest(run.rest),
    `resident ${run.endMiB.toFixed(0)} MiB, at rest ${run.restMiB.toFixed(0)}, peak ${run.peakMiB.toFixed(0)}`,
    `a probe waited ${waits(run.probe)} (median, 99 %, longest) during the rollout`,
  ].join('; ')
}

const describeRest = ({
  corePercent,
  writes,
  cpuMillisPerWrite,
  requests,
  cpuMillisPerRequest,
  most,
}: Rest): string =>
  [
    `at rest ${corePercent.toFixed(1)} % of a core for ${writes} writes of ${cpuMillisPerWrite.toFixed(2)} ms`,
    `${requests} requests of ${cpuMillisPerRequest.toFixed(2)} ms, most of them ${most}`,
  ].join(', ')

function figuresOf(run: Run): Figure[] {
  return [
    { name: 'cluster: time until all pods are Running', value: run.runningSeconds, unit: 's' },
    { name: 'cluster: CPU until all pods are Running', value: run.cpuSeconds, unit: 's' },
    { name: 'cluster: CPU at rest', value: run.rest.corePercent, unit: '%' },
    { name: 'cluster: CPU at rest per write', value: run.rest.cpuMillisPerWrite, unit: 'ms' },
    {
      name: 'cluster: CPU at rest per request',
      value: run.rest.cpuMillisPerRequest,
      unit: 'ms',
    },
    { name: 'cluster: memory when all pods are Running', value: run.endMiB, unit: 'MiB' },
    { name: 'cluster: memory at rest', value: run.restMiB, unit: 'MiB' },
    {
      name: 'cluster: 99th percentile of a probe during the rollout',
      value: run.probe.p99,
      unit: 'ms',
    },
  ]
}

/** Maximum of each figure, in the order of `figuresOf`, as a share of kube-apiserver's figure. */
const targets: readonly number[] = [1, 1 / 2, 1 / 2, 1 / 2, 1 / 2, 1 / 2, 1 / 2, 1]

function compare(ours: Run, theirs: Run): Figure[] {
  const reference = figuresOf(theirs)
  return figuresOf(ours).map(({ name, value, unit }, index) => {
    const other = reference[index]?.value ?? Number.NaN
    return {
      name: `${name}, against the reference`,
      value: value / other,
      unit: 'times',
      target: { below: targets[index] ?? 1 },
      note: `${value.toFixed(1)} against ${other.toFixed(1)} ${unit}`,
    }
  })
}
