/**
 * `npm run bench -- --reference --only bully`: measures whether one client can starve another. The
 * bully lists 10,000 objects without pause on a thousand connections, creates objects on two
 * hundred more, and slowly reads 300 MB on another one. Meanwhile, a well-behaved user sends gets
 * and creates, and a kubelet renews its lease. Both are measured first without and then with the
 * bully, on Keelson and then on kube-apiserver.
 */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { ApiServerProcess } from '../../test/support/harness/api-server.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { startKeelson } from '../../test/support/harness/keelson.ts'
import { startReference } from '../../test/support/harness/reference.ts'
import { describeFigure, type Figure } from '../report/figure.ts'
import { calmest, watchHost } from '../report/host.ts'
import { h2load } from './h2load.ts'
import { Http2Client, type SentRequest } from './http2-client.ts'
import { inLanes } from './lanes.ts'
import { PackagedKeelson } from './packaged.ts'
import { residentMiB } from './process-usage.ts'
import { type Target, targetOf } from './targets.ts'

type Size = {
  readonly objects: number
  readonly listers: number
  readonly creators: number
  /** Number of objects of 1 MB in the list that the slow reader reads. */
  readonly largeObjects: number
  /**
   * Duration of each of the two measurements, long enough to compute a 99th percentile from
   * hundreds of requests.
   */
  readonly seconds: number
  /**
   * Time between the start of the bully and the measurement. In this time, all connections are
   * opened, and flow control adjusts once how many seats the priority levels lend to each other.
   */
  readonly settleSeconds: number
  readonly restSeconds: number
}

const full: Size = {
  objects: 10_000,
  listers: 1_000,
  creators: 200,
  largeObjects: 300,
  seconds: 20,
  settleSeconds: 12,
  restSeconds: 40,
}
/**
 * A smaller load for development, with a result within a minute: `node bench/server/bully.ts
 * [--scale X]`. This command measures only Keelson, from its sources.
 */
const quick: Size = { ...full, largeObjects: 30, seconds: 10, settleSeconds: 5, restSeconds: 1 }

const LARGE_BYTES = 1_000_000
const SLOW_BYTES_PER_SECOND = 200_000
const BETWEEN_MS = 25
/** Maximum share of steal time in a valid measurement. */
const STOLEN_MAX = 0.03
const TRIES = 4

const TIMES_IDLE_MAX = 5
const TIMES_REFERENCE_MAX = 0.5
const MEMORY_TIMES_MAX = 1.2

const listed = '/api/v1/namespaces/listed/configmaps'
const large = '/api/v1/namespaces/large/configmaps'
const good = '/api/v1/namespaces/good/configmaps'
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
const json = { 'content-type': 'application/json' }
/** Tokens of two users to whom flow control applies, because their groups are not exempt. */
const [bullyToken, goodToken] = ['alice-token', 'bob-token']
const kubelet = {
  'impersonate-user': 'system:node:good',
  'impersonate-group': 'system:nodes',
  ...json,
}

type Times = {
  readonly get: readonly number[]
  readonly create: readonly number[]
  readonly lease: readonly number[]
}

type Report = {
  readonly idle: Times
  readonly bullied: Times
  /** Number of requests of the well-behaved clients that failed while the bully ran. */
  readonly failed: number
  readonly idleMiB: number
  readonly afterMiB: number
  readonly peakMiB: number
  readonly isAlive: boolean
  /**
   * Share of time for which the server's main thread ran while the bully was active. `kept` is the
   * share of time for which this thread was ready to run, but waited for a CPU.
   */
  readonly busy: number
  readonly kept: number
  /**
   * Share of steal time in all CPU time. Of the measurements with and without the bully, the larger
   * share counts.
   */
  readonly stolen: number
  readonly note: string
}

export async function benchBully({
  reference,
}: {
  readonly reference: boolean
}): Promise<Figure[]> {
  using built = new PackagedKeelson()
  const ours = await measureCalmly('keelson', (options) => built.start(options), full)
  const theirs = reference ? await measureCalmly('reference', startReference, full) : undefined
  return figuresOf(ours, theirs, full)
}

function figuresOf(ours: Report, theirs: Report | undefined, { restSeconds }: Size): Figure[] {
  const figures: Figure[] = []
  for (const what of ['get', 'create', 'lease'] as const) {
    const [idle, bullied] = [p99(ours.idle[what]), p99(ours.bullied[what])]
    figures.push({
      name: `bully: 99th percentile of ${what}s, against idle`,
      value: bullied / idle,
      unit: 'times',
      note: `${bullied.toFixed(1)} against ${idle.toFixed(1)} ms, ${ours.bullied[what].length} requests; medians ${quantile(ours.bullied[what], 0.5).toFixed(1)} and ${quantile(ours.idle[what], 0.5).toFixed(1)}`,
      target: { below: TIMES_IDLE_MAX },
    })
    if (theirs === undefined) continue
    const their = p99(theirs.bullied[what])
    figures.push({
      name: `bully: 99th percentile of ${what}s, against the reference`,
      value: bullied / their,
      unit: 'times',
      note: `${bullied.toFixed(1)} against ${their.toFixed(1)} ms (idle: ${p99(theirs.idle[what]).toFixed(1)})`,
      target: { below: TIMES_REFERENCE_MAX },
    })
  }
  figures.push({
    name: 'bully: memory afterwards, against idle',
    value: ours.afterMiB / ours.idleMiB,
    unit: 'times',
    note: `${ours.idleMiB.toFixed(0)} MiB idle, ${ours.peakMiB.toFixed(0)} at peak, ${ours.afterMiB.toFixed(0)} after ${restSeconds} s${theirs === undefined ? '' : `; reference ${theirs.idleMiB.toFixed(0)}, ${theirs.peakMiB.toFixed(0)}, ${theirs.afterMiB.toFixed(0)}`}`,
    target: { below: MEMORY_TIMES_MAX },
  })
  figures.push({
    name: 'bully: failed requests of well-behaved clients',
    value: ours.failed + (ours.isAlive ? 0 : Infinity),
    unit: '',
    target: { below: 1 },
    note: [
      `the server's main thread had ${percent(ours.busy)} of a processor, and waited ${percent(ours.kept)} of the time for one`,
      ours.note,
      ...(theirs === undefined ? [] : [`reference: ${theirs.failed} failed; ${theirs.note}`]),
    ].join('; '),
  })
  return figures
}

async function measureCalmly(
  name: string,
  start: Start,
  size: Size,
  tries = TRIES,
): Promise<Report> {
  const { best, all } = await calmest(() => measure(name, start, size), {
    stolenMax: STOLEN_MAX,
    tries,
  })
  const note = `the host took ${all.map(({ stolen }) => percent(stolen)).join(', ')} of the processors`
  return {
    ...best,
    note,
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
    isAlive: all.every(({ isAlive }) => isAlive),
  }
}

type Start = (options: { readonly etcdUrl: string }) => Promise<ApiServerProcess>

async function measure(name: string, start: Start, size: Size): Promise<Omit<Report, 'note'>> {
  await using etcd = await startEtcd()
  await using server = await start({ etcdUrl: etcd.clientUrl })
  const target = targetOf(name, server, etcd.clientUrl)
  await prepare(target, size)
  const directory = await mkdtemp(join(tmpdir(), 'keelson-bully-'))
  try {
    // Fill the cache first, as in any cluster that has run for a while.
    await readAll(target, listed)
    await readAll(target, large)
    await sleep(5_000)
    // The well-behaved clients connect before the bully starts and stay connected. Otherwise they
    // might not get a connection until the bully has stopped, and the measurement would miss its
    // effect.
    using user = new Http2Client({ ...target, token: goodToken })
    using node = new Http2Client(target)
    const clients: GoodClients = { user, node }
    await goodFaith(clients, 3)
    const stolenIdle = watchHost()
    const { times: idle } = await goodFaith(clients, size.seconds)
    const idleStolen = stolenIdle()
    const idleMiB = residentMiB(target.pid)
    const bullies = bully(target, directory, size)
    await sleep(size.settleSeconds * 1000)
    const before = mainThread(target.pid)
    const stolenBullied = watchHost()
    const { times: bullied, failed } = await goodFaith(clients, size.seconds)
    const stolen = Math.max(idleStolen, stolenBullied())
    const after = mainThread(target.pid)
    bullies.end()
    await bullies.ended
    await sleep(size.restSeconds * 1000)
    const afterMiB = residentMiB(target.pid)
    const peakMiB = residentMiB(target.pid, 'peak')
    const isAlive = await answers(target)
    const [busy, kept] = [
      (after.ranMs - before.ranMs) / (after.atMs - before.atMs),
      (after.waitedMs - before.waitedMs) / (after.atMs - before.atMs),
    ]
    return { idle, bullied, failed, idleMiB, afterMiB, peakMiB, isAlive, busy, kept, stolen }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function prepare(target: Target, { objects, largeObjects }: Size): Promise<void> {
  using client = new Http2Client(target)
  const make = (path: string, object: object): Promise<Buffer> =>
    client.ask({ method: 'POST', path, headers: json, body: JSON.stringify(object) })
  for (const name of ['listed', 'large', 'good'])
    await make('/api/v1/namespaces', { metadata: { name } })
  for (const [name, user] of [
    ['bully', 'alice'],
    ['good', 'bob'],
  ]) {
    await make('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'cluster-admin',
      },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    })
  }
  const data = { text: 'x'.repeat(800) }
  await inLanes({ count: objects, lanes: 32 }, (at) =>
    make(listed, { metadata: { name: `listed-${at}` }, data }),
  )
  const long = { text: 'x'.repeat(LARGE_BYTES) }
  await inLanes({ count: largeObjects, lanes: 4 }, (at) =>
    make(large, { metadata: { name: `large-${at}` }, data: long }),
  )
  await make(good, { metadata: { name: 'one' }, data })
  const spec = { holderIdentity: 'good', leaseDurationSeconds: 40 }
  await make(leases, { metadata: { name: 'good' }, spec })
}

async function readAll(target: Target, path: string): Promise<void> {
  using client = new Http2Client(target)
  await client.ask({ path })
}

/**
 * Clients that each send one request at a time on an open connection: a user, and the kubelet of a
 * node.
 */
type GoodClients = { readonly user: Http2Client; readonly node: Http2Client }

async function goodFaith(
  { user, node }: GoodClients,
  seconds: number,
): Promise<{ readonly times: Times; readonly failed: number }> {
  const endMs = performance.now() + seconds * 1000
  let failed = 0
  let next = 0
  const repeat = async (client: Http2Client, sent: () => SentRequest): Promise<number[]> => {
    const times: number[] = []
    while (performance.now() < endMs) {
      const beganMs = performance.now()
      try {
        await client.ask(sent())
        times.push(performance.now() - beganMs)
      } catch {
        failed++
      }
      await sleep(BETWEEN_MS)
    }
    return times
  }
  const name = (): string => `made-${process.pid}-${Date.now()}-${next++}`
  const [get, create, lease] = await Promise.all([
    repeat(user, () => ({ path: `${good}/one` })),
    repeat(user, () => ({
      method: 'POST',
      path: good,
      headers: json,
      body: JSON.stringify({ metadata: { name: name() } }),
    })),
    repeat(node, () => ({
      method: 'PATCH',
      path: `${leases}/good`,
      headers: { ...kubelet, 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ spec: { renewTime: new Date().toISOString().replace('Z', '000Z') } }),
    })),
  ])
  return { times: { get, create, lease }, failed }
}

/**
 * Starts the bully. Its loads end after a fixed time, but its slow reader must be stopped with
 * `end`.
 */
function bully(
  target: Target,
  directory: string,
  { settleSeconds, seconds, listers, creators }: Size,
): { readonly end: () => void; readonly ended: Promise<unknown> } {
  const bullying: Target = { ...target, token: bullyToken }
  const amount = { seconds: settleSeconds + seconds + 2 }
  const creating = {
    uri: good,
    amount,
    clients: creators,
    streams: 1,
    headers: json,
    body: JSON.stringify({ metadata: { generateName: 'bully-' } }),
  }
  const slow = readSlowly(bullying)
  // Responses are ignored, because most of them are 429.
  const flood = (load: Parameters<typeof h2load>[1]): Promise<unknown> =>
    h2load(bullying, load, directory).catch(() => undefined)
  const floods = Promise.all([
    flood({ uri: listed, amount, clients: listers, streams: 1 }),
    flood(creating),
  ])
  return { end: () => slow(), ended: floods }
}

/** Starts a client that slowly reads a large list. Returns a function that stops this client. */
function readSlowly({ server, token = '' }: Target): () => void {
  const session = connect(server, { rejectUnauthorized: false })
  session.on('error', () => undefined)
  const stream = session.request({ ':path': large, authorization: `Bearer ${token}` })
  stream.on('error', () => undefined)
  const timer = setInterval(() => {
    for (let left = SLOW_BYTES_PER_SECOND / 10; left > 0; ) {
      const piece: unknown = stream.read()
      if (!Buffer.isBuffer(piece)) break
      left -= piece.length
    }
  }, 100)
  return () => {
    clearInterval(timer)
    session.destroy()
  }
}

async function answers(target: Target): Promise<boolean> {
  using client = new Http2Client(target)
  try {
    await client.ask({ path: `${good}/one` })
    return true
  } catch {
    return false
  }
}

/**
 * Returns how long the main thread, which runs the event loop, has run and how long it has waited
 * for a CPU.
 */
function mainThread(pid: number | undefined): {
  readonly ranMs: number
  readonly waitedMs: number
  readonly atMs: number
} {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')
    .split(' ')
    .map(Number)
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6, atMs: performance.now() }
}

const p99 = (times: readonly number[]): number => quantile(times, 0.99)

function quantile(times: readonly number[], part: number): number {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

const percent = (part: number): string => `${(part * 100).toFixed(part < 0.1 ? 1 : 0)} %`

if (import.meta.main) {
  const { values } = parseArgs({ options: { scale: { type: 'string', default: '1' } } })
  const scaled = (count: number): number => Math.ceil(count * Number(values.scale))
  const { objects, listers, creators, largeObjects } = quick
  const size: Size = {
    ...quick,
    objects: scaled(objects),
    listers: scaled(listers),
    creators: scaled(creators),
    largeObjects: scaled(largeObjects),
  }
  const report = await measureCalmly('keelson', startKeelson, size, 1)
  for (const figure of figuresOf(report, undefined, size)) console.log(describeFigure(figure))
}
