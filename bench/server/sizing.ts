/**
 * `npm run bench -- --only sizing`: measures the figures of the sizing tables in docs/operate.md
 * that no other benchmark measures: the memory of connections, watches and cached objects. Other
 * work of the machine delays garbage collection, so each figure is the smallest of several runs.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdClient } from '../../src/storage/etcd/client.ts'
import { type ApiServerProcess, startApiServer } from '../../test/support/harness/api-server.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { installPackage } from '../../test/support/harness/package.ts'
import type { Figure } from '../report/figure.ts'
import { Http2Client } from './http2-client.ts'
import { residentMiB } from './process-usage.ts'
import { type Target, targetOf } from './targets.ts'

/** Memory is settled if it changes by less than CHANGE_MAX in this time. */
const IDLE_MS = 10_000
const CHANGE_MAX = 0.01
const WAITS_MAX = 12
const CONNECTIONS = 1_000
/** Number of watches that are added to each connection after its first watch. */
const FURTHER_WATCHES = 9
/** Number of connections or watches that are opened at once. */
const AT_ONCE = 50
const OBJECTS = 100_000
const OBJECT_BYTES = 1_000
const KIB_PER_MIB = 1024
const NAMESPACE = 'sizing'
const smallPath = '/api/v1/namespaces/default'

/**
 * Number of requests that are sent before memory is measured. They are enough for V8 to enlarge its
 * heap for new objects to its full size.
 */
const WARM_UP_REQUESTS = 20_000

type SizingOptions = { readonly program: string; readonly etcdUrl: string }

export async function benchSizing({ runs }: { readonly runs: number }): Promise<Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-sizing-'))
  try {
    await using etcd = await startEtcd({ args: ['--quota-backend-bytes', `${2 ** 30}`] })
    const options = { program: await installPackage(dir), etcdUrl: etcd.clientUrl }
    const all: Figure[][] = []
    while (all.length < runs) all.push(await benchConnections(options))
    return [...smallest(all), ...(await benchObjects(options))]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Returns the smallest value of each figure, with the largest one as a note. */
function smallest(runs: readonly (readonly Figure[])[]): Figure[] {
  const [first = []] = runs
  return first.map((figure, at) => {
    const values = runs.map((run) => run[at]?.value ?? Number.NaN)
    const note = `${runs.length} runs, at most ${Math.max(...values).toFixed(1)}`
    return { ...figure, value: Math.min(...values), note }
  })
}

async function benchConnections({ program, etcdUrl }: SizingOptions): Promise<Figure[]> {
  await using server = await startApiServer([program, 'serve'], { etcdUrl })
  using clients = new DisposableStack()
  const target = targetOf('keelson', server, etcdUrl)
  await warmUp(target)
  const before = await settled(server)
  const opened = Array.from({ length: CONNECTIONS }, () => clients.use(new Http2Client(target)))
  await Promise.all(opened.map((client) => client.ask({ path: smallPath })))
  const connected = await settled(server)
  let nodes = 0
  const watchOne = async (client: Http2Client): Promise<void> => {
    const path = `/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dnode-${nodes++}`
    await client.watch({ path }, () => undefined)
  }
  await Promise.all(opened.map(watchOne))
  const watched = await settled(server)
  for (let watch = 0; watch < FURTHER_WATCHES; watch++) await Promise.all(opened.map(watchOne))
  const all = await settled(server)
  return [
    kib('connection with TLS and HTTP/2', before, connected, CONNECTIONS),
    kib('first watch of a connection', connected, watched, CONNECTIONS),
    kib('further watch of a connection', watched, all, CONNECTIONS * FURTHER_WATCHES),
  ]
}

function kib(name: string, from: number, to: number, count: number): Figure {
  const value = ((to - from) * KIB_PER_MIB) / count
  return { name, value, unit: 'KiB' }
}

async function warmUp(target: Target): Promise<void> {
  using client = new Http2Client(target)
  await open(WARM_UP_REQUESTS, () => client.ask({ path: smallPath }))
}

/** Calls `start` `count` times, with limited concurrency, and waits until all calls have ended. */
async function open(count: number, start: (at: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < count; at += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - at)
    await Promise.all(Array.from({ length: size }, (_, index) => start(at + index)))
  }
}

/** Returns the resident memory when it no longer changes, because garbage has been collected. */
async function settled({ pid }: ApiServerProcess): Promise<number> {
  for (let before = Number.NaN, waits = 0; ; waits++) {
    await sleep(IDLE_MS)
    const now = residentMiB(pid)
    if (Math.abs(now - before) < CHANGE_MAX * before || waits === WAITS_MAX) return now
    before = now
  }
}

async function benchObjects({ program, etcdUrl }: SizingOptions): Promise<Figure[]> {
  const start = () => startApiServer([program, 'serve'], { etcdUrl })
  const before = await withServer(start, etcdUrl, settled)
  await using etcd = new EtcdClient({ endpoints: [etcdUrl] })
  const put = (at: number): Promise<unknown> => etcd.kv.put(podTemplate(at))
  for (let at = 0; at < OBJECTS; at += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => put(at + index)))
  return await withServer(start, etcdUrl, async (server) => {
    // At its start, the server reads all objects of this resource into its cache, because there are
    // this many.
    const cached = await settled(server)
    const path = `/api/v1/namespaces/${NAMESPACE}/podtemplates`
    using client = new Http2Client(targetOf('keelson', server, etcdUrl))
    const { length } = await client.ask({ path })
    return [
      {
        name: 'cached objects, against the size of their JSON',
        value: (cached - before) / (length / 2 ** 20),
        unit: 'times',
        note: `${OBJECTS} of ${Math.round(length / OBJECTS)} bytes, ${before.toFixed(0)} to ${cached.toFixed(0)} MiB`,
      },
    ]
  })
}

/** Starts a server, warms it up, and stops it after the measurement. */
async function withServer<T>(
  start: () => Promise<ApiServerProcess>,
  etcdUrl: string,
  measure: (server: ApiServerProcess) => Promise<T>,
): Promise<T> {
  await using server = await start()
  await warmUp(targetOf('keelson', server, etcdUrl))
  return await measure(server)
}

/** Returns a PodTemplate as a server stores it. No component of the server reads PodTemplates. */
function podTemplate(at: number): { readonly key: Buffer; readonly value: Buffer } {
  const name = `object-${at}`
  const uid = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
  const head = `{"kind":"PodTemplate","apiVersion":"v1","metadata":{"name":"${name}","namespace":"${NAMESPACE}","uid":"${uid}","creationTimestamp":"2026-01-01T00:00:00Z","annotations":{"text":"`
  const end = '"}},"template":{}}\n'
  return {
    key: Buffer.from(`/registry/podtemplates/${NAMESPACE}/${name}`),
    value: Buffer.from(`${head.padEnd(OBJECT_BYTES - end.length, 'x')}${end}`),
  }
}
