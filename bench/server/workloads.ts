/** The loads: the requests of each load, and the objects that they need. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient } from '../../test/recorded/compat/client.ts'
import { isRecord } from '../../test/recorded/compat/json.ts'
import { customObject, customPath, definition, definitionsPath } from './custom-kind.ts'
import { frame, rangeRequest, putRequest } from './etcd-frames.ts'
import { type Figures, h2load, type Load } from './h2load.ts'
import { cpuSeconds } from './process-usage.ts'
import type { Target } from './targets.ts'

export type Workload = {
  readonly name: string
  readonly about: string
  /**
   * Creates the objects that only this load needs, in addition to those that `prepare` below
   * creates for all loads. A second call creates only missing objects.
   */
  readonly prepare?: (target: Target) => Promise<void>
  readonly run: (target: Target) => Promise<Figures>
  /** Number of runs before the runs that count. Zero if every run restarts the server. */
  readonly warmUps?: number
  /** Runs the same load on bare etcd, if etcd has an equivalent. */
  readonly bare?: (etcd: Target) => Promise<Figures>
}

export type WorkloadOptions = {
  /** Factor for the numbers of requests and objects. */
  readonly scale: number
  /** Directory for the files of h2load. */
  readonly directory: string
}

const apply = { 'content-type': 'application/apply-patch+yaml', accept: 'application/json' }
const json = { 'content-type': 'application/json', accept: 'application/json' }
const protobuf = 'application/vnd.kubernetes.protobuf'
/** The Accept header that kubectl sends. */
const tableTypes = ['v1', 'v1beta1']
  .map((version) => `application/json;as=Table;v=${version};g=meta.k8s.io`)
  .concat('application/json')
  .join(',')
const grpc = { 'content-type': 'application/grpc', te: 'trailers' }

const SMALL_NAMESPACE = 'bench-small'
const BIG_NAMESPACE = 'bench-big'
const WATCHED_NAMESPACE = 'bench-watch'
const POD_NAMESPACE = 'bench-pods'
const podsPath = `/api/v1/namespaces/${POD_NAMESPACE}/pods`
const POD_OBJECTS = 500
const custom = customPath(SMALL_NAMESPACE)
/** Number of objects of a custom kind. Each object changes once per run. */
const CUSTOM_OBJECTS = 500
const configMapsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`

/** Number of objects that are read one after the other. */
const READ_OBJECTS = 200
/** Number of times that a client repeats the same request, as controllers do at each resync. */
const AGAIN_TIMES = 25
/**
 * Number of objects that change. Each changes once per run, because repeating the same patch would
 * have no effect.
 */
const CHANGED_OBJECTS = 5000
const deploymentsOf = (namespace: string): string =>
  `/apis/apps/v1/namespaces/${namespace}/deployments`
/**
 * Number of Deployments with ports that different managers own. One manager applies all of the
 * Deployments again.
 */
const LARGE_OBJECTS = 200
const LARGE_OWNERS = 5
const LARGE_PORTS = 60
const LISTED_OBJECTS = 10_000
/**
 * Approximate size in etcd of a ConfigMap with 1,000 characters of data, as protobuf with its
 * metadata.
 */
const STORED_BYTES = 1300

/** Creates the objects that the loads need. A second call creates only missing objects. */
export async function prepare(
  target: Target,
  { scale, directory }: WorkloadOptions,
): Promise<void> {
  using client = createClient(target)
  const call = caller(target.name, client)
  for (const name of [SMALL_NAMESPACE, BIG_NAMESPACE, WATCHED_NAMESPACE, POD_NAMESPACE])
    await call(
      'POST',
      '/api/v1/namespaces',
      JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
    )
  for (let index = 0; index < changedObjects(scale); index++)
    await call('POST', configMapsOf(SMALL_NAMESPACE), configMap({ name: `cm-${index}` }))
  for (let index = 0; index < POD_OBJECTS; index++)
    await call('POST', podsPath, pod(`pod-${index}`))
  for (let index = 0; index < LARGE_OBJECTS; index++) {
    for (let owner = 0; owner < LARGE_OWNERS; owner++) {
      const metadata = { name: `large-${index}`, annotations: { [`owner-${owner}`]: 'x' } }
      await call(
        'PATCH',
        largePath(index, `owner-${owner}`),
        largeDeployment(metadata, owner),
        apply,
      )
    }
  }
  await call('POST', definitionsPath, definition)
  await waitUntilServed(client, custom)
  for (let index = 0; index < CUSTOM_OBJECTS; index++)
    await call('POST', custom, customObject({ name: `c-${index}` }))
  const uri = configMapsOf(BIG_NAMESPACE)
  const missing = scaled(LISTED_OBJECTS, scale) - countOf(await call('GET', `${uri}?limit=1`))
  if (missing <= 0) return
  const body = configMap({ generateName: 'cm-' })
  await h2load(target, { uri, amount: { requests: missing }, headers: json, body }, directory)
}

/**
 * Maximum wait until a new custom kind is served. Servers accept a CustomResourceDefinition before
 * they serve its kind.
 */
const SERVED_WITHIN_MS = 10_000
const SERVED_POLL_MS = 50

async function waitUntilServed(client: Client, path: string): Promise<void> {
  const deadlineMs = performance.now() + SERVED_WITHIN_MS
  for (;;) {
    const { status } = await client.request({ method: 'GET', path, headers: json })
    if (status === 200) return
    if (performance.now() > deadlineMs)
      throw new Error(`GET ${path}: ${status} long after the definition was created`)
    await sleep(SERVED_POLL_MS)
  }
}

export function workloads({ scale, directory }: WorkloadOptions): Workload[] {
  const small = configMapsOf(SMALL_NAMESPACE)
  const each = Array.from({ length: changedObjects(scale) }, (_, index) => `${small}/cm-${index}`)
  let runs = 0
  const context: WorkloadContext = {
    load: (target, what) => h2load(target, what, directory),
    requests: (count) => ({ requests: scaled(count, scale) }),
    newValue: () => `${Date.now()}-${runs++}`,
    each,
    some: each.slice(0, READ_OBJECTS),
  }
  return [
    ...getWorkloads(context),
    ...createWorkloads(context),
    ...patchWorkloads(context),
    ...applyWorkloads(context),
    ...listWorkloads(context, scaled(LISTED_OBJECTS, scale)),
    {
      name: 'watch',
      about: '200 watchers of a namespace while it is written to at full speed for 10 s',
      run: (target) => watchLoad(target, directory),
    },
  ]
}

type WorkloadContext = {
  readonly load: (target: Target, what: Load) => Promise<Figures>
  /** Multiplies a number of requests by the scale of the run. */
  readonly requests: (count: number) => Load['amount']
  /**
   * Returns a value that differs in each run, so that the first request for each object changes the
   * object.
   */
  readonly newValue: () => string
  /**
   * `each` contains the paths of the objects that a load changes, and `some` the paths of those
   * that it also reads.
   */
  readonly each: readonly string[]
  readonly some: readonly string[]
}

/**
 * Sends one request per object with a single client, because every client of h2load would begin
 * with the first object.
 */
const oncePerObject = (
  objects: number,
): Pick<Load, 'clients' | 'streams' | 'amount' | 'method'> => ({
  clients: 1,
  streams: 32,
  amount: { requests: objects },
  method: 'PATCH',
})

function getWorkloads({ load, requests, some }: WorkloadContext): Workload[] {
  return [
    {
      name: 'get',
      about: 'GET one 1 KB object, latest',
      run: (target) => load(target, { uri: some, amount: requests(20_000), headers: json }),
      bare: (etcd) =>
        load(etcd, {
          uri: '/etcdserverpb.KV/Range',
          amount: requests(20_000),
          headers: grpc,
          method: 'POST',
          body: frame(rangeRequest('/bench/key')),
        }),
    },
    {
      name: 'get-any',
      about: 'GET one 1 KB object, resourceVersion=0',
      run: (target) =>
        load(target, {
          uri: some.map((path) => `${path}?resourceVersion=0`),
          amount: requests(20_000),
          headers: json,
        }),
    },
  ]
}

function createWorkloads({ load, requests }: WorkloadContext): Workload[] {
  return [
    {
      name: 'create',
      about: 'POST a 1 KB object',
      run: (target) =>
        load(target, {
          uri: configMapsOf(SMALL_NAMESPACE),
          amount: requests(5000),
          headers: json,
          body: configMap({ generateName: 'new-' }),
        }),
      bare: (etcd) =>
        load(etcd, {
          uri: '/etcdserverpb.KV/Put',
          amount: requests(5000),
          headers: grpc,
          method: 'POST',
          body: frame(putRequest('/bench/key', text(STORED_BYTES))),
        }),
    },
    {
      name: 'create-custom',
      about: 'POST a 3 KB object of a custom kind with 200 fields and 10 rules',
      run: (target) =>
        load(target, {
          uri: custom,
          amount: requests(5000),
          headers: json,
          body: customObject({ generateName: 'new-' }),
        }),
    },
  ]
}

function patchWorkloads({ load, requests, newValue, each, some }: WorkloadContext): Workload[] {
  return [
    {
      name: 'patch-custom',
      about: 'merge PATCH that changes an object of this kind',
      run: (target) =>
        load(target, {
          ...oncePerObject(CUSTOM_OBJECTS),
          uri: Array.from({ length: CUSTOM_OBJECTS }, (_, index) => `${custom}/c-${index}`),
          headers: { ...json, 'content-type': 'application/merge-patch+json' },
          body: JSON.stringify({ spec: { selector: { run: newValue() } } }),
        }),
    },
    {
      name: 'patch',
      about: 'merge PATCH that changes a 1 KB object',
      run: (target) =>
        load(target, {
          ...oncePerObject(each.length),
          uri: each,
          headers: { ...json, 'content-type': 'application/merge-patch+json' },
          body: JSON.stringify({ data: { salt: newValue() } }),
        }),
    },
    {
      name: 'patch-again',
      about: `merge PATCH of ${READ_OBJECTS} objects, ${AGAIN_TIMES} times each: the first changes the object, the others change nothing`,
      run: (target) =>
        load(target, {
          uri: some,
          amount: requests(AGAIN_TIMES * READ_OBJECTS),
          method: 'PATCH',
          headers: { ...json, 'content-type': 'application/merge-patch+json' },
          body: JSON.stringify({ data: { salt: newValue() } }),
        }),
    },
    {
      name: 'patch-strategic',
      about: 'strategic merge PATCH that changes a 1 KB object',
      run: (target) =>
        load(target, {
          ...oncePerObject(each.length),
          uri: each,
          headers: { ...json, 'content-type': 'application/strategic-merge-patch+json' },
          body: JSON.stringify({ data: { salt: newValue() } }),
        }),
    },
  ]
}

function applyWorkloads({ load, requests, newValue, each, some }: WorkloadContext): Workload[] {
  return [
    {
      name: 'apply',
      about: 'server-side apply that changes a 1 KB object',
      run: (target) =>
        load(target, {
          ...oncePerObject(each.length),
          uri: each.map((path) => `${path}?fieldManager=bench&force=true`),
          headers: apply,
          body: JSON.stringify({
            apiVersion: 'v1',
            kind: 'ConfigMap',
            data: { applied: newValue() },
          }),
        }),
    },
    {
      name: 'apply-again',
      about: `server-side apply to ${READ_OBJECTS} objects, ${AGAIN_TIMES} times each: the first changes the object, the others change nothing`,
      run: (target) =>
        load(target, {
          uri: some.map((path) => `${path}?fieldManager=bench&force=true`),
          amount: requests(AGAIN_TIMES * READ_OBJECTS),
          method: 'PATCH',
          headers: apply,
          body: JSON.stringify({
            apiVersion: 'v1',
            kind: 'ConfigMap',
            data: { applied: newValue() },
          }),
        }),
    },
    {
      name: 'apply-large',
      about: `server-side apply of a Deployment with ${LARGE_PORTS} ports and ${LARGE_OWNERS} managers`,
      run: (target) =>
        load(target, {
          ...oncePerObject(LARGE_OBJECTS),
          uri: Array.from({ length: LARGE_OBJECTS }, (_, index) => largePath(index, 'owner-0')),
          headers: apply,
          body: largeDeployment({ annotations: { 'owner-0': newValue() } }, 'all'),
        }),
    },
  ]
}

/** `objects` is the number of objects in the BIG_NAMESPACE namespace. */
function listWorkloads({ load, requests }: WorkloadContext, objects: number): Workload[] {
  const big = configMapsOf(BIG_NAMESPACE)
  const few = { clients: 2, streams: 1, headers: json }
  return [
    {
      name: 'page',
      about: 'LIST a page of 500, latest',
      run: (target) =>
        load(target, { ...few, uri: `${big}?limit=500`, amount: requests(300), streams: 2 }),
    },
    {
      name: 'list',
      about: `LIST all ${objects}, latest`,
      run: (target) => load(target, { ...few, uri: big, amount: requests(20) }),
    },
    {
      name: 'list-any',
      about: `LIST all ${objects}, resourceVersion=0`,
      run: (target) =>
        load(target, { ...few, uri: `${big}?resourceVersion=0`, amount: requests(20) }),
    },
    {
      name: 'list-gzip',
      about: `LIST all ${objects}, latest, compressed`,
      run: (target) =>
        load(target, {
          ...few,
          uri: big,
          amount: requests(20),
          headers: { ...json, 'accept-encoding': 'gzip' },
        }),
    },
    {
      name: 'table',
      about: `LIST ${POD_OBJECTS} pods as kubectl shows them, latest`,
      run: (target) =>
        load(target, {
          ...few,
          uri: podsPath,
          amount: requests(300),
          headers: { accept: tableTypes },
        }),
    },
    {
      name: 'list-protobuf',
      about: 'LIST a page of 500 in protobuf, latest',
      run: (target) =>
        load(target, {
          ...few,
          uri: `${big}?limit=500`,
          amount: requests(300),
          headers: { accept: protobuf },
        }),
    },
  ]
}

const WATCHERS = 200
const WATCH_SECONDS = 12
const WRITE_SECONDS = 10
/**
 * Wait before the writes begin, in which all watches start. WATCH_SECONDS exceeds the sum of this
 * wait and WRITE_SECONDS.
 */
const WATCH_START_MS = 1500
/**
 * Approximate size in bytes of a watch event in the response. Dividing the received bytes by this
 * size gives the number of events.
 */
const EVENT_BYTES = 1400

/** Measures the megabytes that the watchers receive. The CPU time is per delivered event. */
async function watchLoad(target: Target, directory: string): Promise<Figures> {
  const cpuBefore = cpuSeconds(target.pid)
  const uri = configMapsOf(WATCHED_NAMESPACE)
  using client = createClient(target)
  const version = versionOf(await caller(target.name, client)('GET', `${uri}?limit=1`))
  const watching = h2load(
    target,
    {
      uri: `${uri}?watch=1&timeoutSeconds=${WATCH_SECONDS}&resourceVersion=${version}`,
      amount: { requests: WATCHERS },
      clients: 4,
      streams: WATCHERS / 4,
      headers: json,
    },
    directory,
  )
  await sleep(WATCH_START_MS)
  const body = configMap({ generateName: 'w-' })
  const writing = {
    uri,
    amount: { seconds: WRITE_SECONDS },
    clients: 1,
    streams: 8,
    headers: json,
    body,
  }
  const [seen, writes] = await Promise.all([watching, h2load(target, writing, directory)])
  const cpu = cpuSeconds(target.pid) - cpuBefore
  const deliveries = (seen.megabytes * 1e6) / EVENT_BYTES
  return {
    ...writes,
    perSecond: seen.megabytes / WATCH_SECONDS,
    unit: 'MB',
    cpuMicros: (cpu / Math.max(1, deliveries)) * 1e6,
    note: `${Math.round(writes.perSecond)} writes/s, about ${Math.round(deliveries / WATCH_SECONDS)} deliveries/s`,
  }
}

const changedObjects = (scale: number): number =>
  Math.max(READ_OBJECTS, scaled(CHANGED_OBJECTS, scale))

const scaled = (count: number, scale: number): number => Math.max(1, Math.round(count * scale))

const text = (length: number): string =>
  'Lorem0123456789ipsum'.repeat(Math.ceil(length / 20)).slice(0, length)

const configMap = (
  metadata: { readonly name: string } | { readonly generateName: string },
): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: text(1000) } })

const pod = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'web' } },
    spec: {
      containers: [{ name: 'web', image: 'example.com/web:1', ports: [{ containerPort: 80 }] }],
    },
  })

const largePath = (index: number, manager: string): string =>
  `${deploymentsOf(SMALL_NAMESPACE)}/large-${index}?fieldManager=${manager}&force=true`

/** Returns a Deployment with all ports, or only with the ports that belong to one owner. */
function largeDeployment(
  metadata: Readonly<Record<string, unknown>>,
  owner: number | 'all',
): string {
  const indices = Array.from({ length: LARGE_PORTS }, (_, index) => index)
  const own = owner === 'all' ? indices : indices.filter((index) => index % LARGE_OWNERS === owner)
  const ports = own.map((index) => ({
    containerPort: 1000 + index,
    name: `port-${index}`,
    protocol: 'TCP',
  }))
  const spec = { containers: [{ name: 'web', image: 'example.com/web:1', ports }] }
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec },
    },
  })
}

type Call = (
  method: string,
  path: string,
  body?: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<unknown>

/**
 * Returns a function that sends a request and parses the JSON response. Conflicts with existing
 * objects are ignored.
 */
function caller(name: string, client: Client): Call {
  return async (method, path, body, headers = json) => {
    const { status, raw } = await client.request({ method, path, headers, body })
    if (status >= 300 && status !== 409)
      throw new Error(`${name} ${method} ${path}: ${status} ${raw.toString('utf8')}`)
    return JSON.parse(raw.toString('utf8'))
  }
}

function metadataOf(list: unknown): Record<string, unknown> {
  const metadata = isRecord(list) ? list['metadata'] : undefined
  if (!isRecord(metadata)) throw new Error('the list has no metadata: is this an API server?')
  return metadata
}

const versionOf = (list: unknown): string => String(metadataOf(list)['resourceVersion'])

function countOf(list: unknown): number {
  const items = isRecord(list) && Array.isArray(list['items']) ? list['items'].length : 0
  return items + Number(metadataOf(list)['remainingItemCount'] ?? 0)
}
