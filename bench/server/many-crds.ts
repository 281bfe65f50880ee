/**
 * Thousands of CustomResourceDefinitions: how long until all are served, what each costs in memory, how long the first request to one
 * takes, and whether the memory comes back. Run by itself: node bench/server/many-crds.ts [count]
 */
import { connect, type ClientHttp2Session, constants } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { ADMIN_TOKEN } from '../../test/harness/api-server.ts'
import { startEtcd } from '../../test/harness/etcd.ts'
import { startKeelson } from '../../test/harness/keelson.ts'
import { describeFigure, type Figure } from '../figure.ts'
import { residentMiB } from './process-usage.ts'

const COUNT = 2_000
const PER_GROUP = 10
const FIELDS = 60
const AT_ONCE = 16
const FIRST_REQUESTS = 100
/** Long enough for the garbage collector to have been by. */
const IDLE_MS = 5_000
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export async function benchManyDefinitions(count = COUNT): Promise<Figure[]> {
  await using etcd = await startEtcd({ args: ['--quota-backend-bytes', String(8 << 30)] })
  await using keelson = await startKeelson({ etcdUrl: etcd.clientUrl })
  using client = open(keelson.url)
  const { session } = client
  await request(session, { path: definitions })
  const before = residentMiB(keelson.pid)
  const bytes = JSON.stringify(definition(0)).length
  const began = performance.now()
  await inParallel(count, async (at) => {
    const { status, body } = await request(session, { method: 'POST', path: definitions, body: definition(at) })
    if (status !== 201) throw new Error(`definition ${at}: ${status} ${body.slice(0, 500)}`)
  })
  await waitUntilServed(session, count)
  const seconds = (performance.now() - began) / 1000
  await sleep(IDLE_MS)
  const idle = residentMiB(keelson.pid)
  const discovered = await discoveries(session)
  const firsts = await firstRequests(session, count)
  await inParallel(count, (at) => request(session, { method: 'DELETE', path: `${definitions}/${nameOf(at)}` }))
  await waitUntilGone(session)
  await sleep(IDLE_MS)
  const after = residentMiB(keelson.pid)
  return [
    { name: `${count} definitions are served after`, value: seconds, unit: 's', target: { below: 60 } },
    {
      name: 'memory of each beyond its own bytes',
      value: ((idle - before) * 1024) / count - bytes / 1024,
      unit: 'KiB',
      target: { below: 100 },
      note: `${bytes} bytes each; ${before.toFixed(0)} MiB before, ${idle.toFixed(0)} MiB with them`,
    },
    { name: 'first request to one, slowest', value: firsts.at(-1) ?? Number.NaN, unit: 'ms', target: { below: 20 } },
    { name: 'first request to one, half of them under', value: firsts[firsts.length >> 1] ?? Number.NaN, unit: 'ms' },
    { name: '/apis with all of them, median', value: discovered, unit: 'ms', target: { below: 20 } },
    { name: 'memory that is left when they are gone', value: after - before, unit: 'MiB' },
  ]
}

const groupOf = (at: number): string => `g${Math.floor(at / PER_GROUP)}.bench.example.com`
const pluralOf = (at: number): string => `things${at}`
const nameOf = (at: number): string => `${pluralOf(at)}.${groupOf(at)}`

function definition(at: number): object {
  const properties = Object.fromEntries(
    Array.from({ length: FIELDS }, (_, field) => [
      `field${field}`,
      { type: 'string', description: `What field ${field} of this kind is about, in one line.`, maxLength: 100 },
    ]),
  )
  const schema = { type: 'object', properties: { spec: { type: 'object', properties }, status: { type: 'object' } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: nameOf(at) },
    spec: {
      group: groupOf(at),
      scope: 'Namespaced',
      names: { plural: pluralOf(at), kind: `Thing${at}` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  }
}

const collectionOf = (at: number): string => `/apis/${groupOf(at)}/v1/namespaces/default/${pluralOf(at)}`

/** All at once at the end: each look at one costs it its first request. */
async function waitUntilServed(session: ClientHttp2Session, count: number): Promise<void> {
  for (;;) {
    const { body } = await request(session, { path: '/apis', accept: aggregated })
    if ((body.match(/"resource":"things\d+"/g)?.length ?? 0) === count) return
    await sleep(50)
  }
}

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** How long the aggregated document takes to come, in milliseconds: the median of some. */
async function discoveries(session: ClientHttp2Session): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < 21; run++) {
    const began = performance.now()
    await request(session, { path: '/apis', accept: aggregated })
    times.push(performance.now() - began)
  }
  return times.toSorted((a, b) => a - b)[10] ?? Number.NaN
}

async function waitUntilGone(session: ClientHttp2Session): Promise<void> {
  while ((await request(session, { path: `${definitions}?limit=1` })).body.includes('"name":"things')) await sleep(100)
}

/** In milliseconds, sorted. */
async function firstRequests(session: ClientHttp2Session, count: number): Promise<number[]> {
  const times: number[] = []
  const step = Math.max(Math.floor(count / FIRST_REQUESTS), 1)
  for (let at = 0; at < count; at += step) {
    const began = performance.now()
    const spec = { field0: 'a' }
    const body = { apiVersion: `${groupOf(at)}/v1`, kind: `Thing${at}`, metadata: { name: 'first' }, spec }
    const { status } = await request(session, { method: 'POST', path: collectionOf(at), body })
    times.push(performance.now() - began)
    if (status !== 201) throw new Error(`an object of definition ${at}: ${status}`)
  }
  return times.toSorted((a, b) => a - b)
}

async function inParallel(count: number, run: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await run(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

function open(url: string): { readonly session: ClientHttp2Session } & Disposable {
  const session = connect(url, { rejectUnauthorized: false })
  session.setMaxListeners(0)
  return { session, [Symbol.dispose]: () => session.destroy() }
}

type Sent = { readonly method?: string; readonly path: string; readonly body?: object; readonly accept?: string }

function request(session: ClientHttp2Session, sent: Sent): Promise<{ readonly status: number; readonly body: string }> {
  const { method = 'GET', path, body, accept = 'application/json' } = sent
  return new Promise((resolve, reject) => {
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: method,
      [constants.HTTP2_HEADER_PATH]: path,
      authorization: `Bearer ${ADMIN_TOKEN}`,
      accept,
      'content-type': 'application/json',
    })
    const chunks: Buffer[] = []
    let status = 0
    stream.on('response', (headers) => {
      status = Number(headers[constants.HTTP2_HEADER_STATUS])
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => resolve({ status, body: Buffer.concat(chunks).toString('utf8') }))
    stream.on('error', reject)
    stream.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

if (import.meta.main) {
  for (const figure of await benchManyDefinitions(Number(process.argv[2] ?? COUNT))) console.log(describeFigure(figure))
}
