/**
 * Measures ten concurrent lists of a 300 MB collection: how much additional memory the server uses,
 * and how long other requests take. Run it directly: node bench/server/large-lists.ts
 */
import { execFile } from 'node:child_process'
import { connect, constants, type ClientHttp2Session } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { EtcdClient } from '../../src/storage/etcd/client.ts'
import { ADMIN_TOKEN } from '../../test/support/harness/api-server.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { startKeelson } from '../../test/support/harness/keelson.ts'
import { describeFigure, type Figure } from '../report/figure.ts'
import { residentMiB } from './process-usage.ts'

const OBJECTS = 150_000
const OBJECT_BYTES = 2_000
const LISTS = 10
const NAMESPACE = 'large'
const PING_EVERY_MS = 5

export async function benchLargeLists(): Promise<Figure[]> {
  await using etcd = await startEtcd({ args: ['--quota-backend-bytes', String(8 << 30)] })
  await fill(etcd.clientUrl)
  await using keelson = await startKeelson({ etcdUrl: etcd.clientUrl })
  using warm = open(keelson.url)
  const bytes = await read(warm.session, `/api/v1/namespaces/${NAMESPACE}/configmaps`)
  await sleep(2_000)
  const before = residentMiB(keelson.pid)
  let peak = before
  const watchMemory = setInterval(() => {
    peak = Math.max(peak, residentMiB(keelson.pid))
  }, 20)
  using pinger = open(keelson.url)
  const stop = new AbortController()
  const pinging = ping(pinger.session, stop.signal)
  const began = performance.now()
  await listAtOnce(`${keelson.url}/api/v1/namespaces/${NAMESPACE}/configmaps`)
  const seconds = (performance.now() - began) / 1000
  stop.abort()
  clearInterval(watchMemory)
  const waits = (await pinging).toSorted((a, b) => a - b)
  return [
    {
      name: `memory added by ${LISTS} concurrent lists of ${Math.round(bytes / 1e6)} MB`,
      value: peak - before,
      unit: 'MiB',
      target: { below: 300 },
      note: `${before.toFixed(0)} MiB before, ${seconds.toFixed(1)} s for all of them`,
    },
    {
      name: 'longest wait of a small request meanwhile',
      value: waits.at(-1) ?? Number.NaN,
      unit: 'ms',
      target: { below: 50 },
      note: `${waits.length} requests, half of them below ${waits[waits.length >> 1]?.toFixed(1)} ms, 99 % under ${waits[Math.floor(waits.length * 0.99)]?.toFixed(1)} ms; client and server share two cores`,
    },
  ]
}

/**
 * Lists with h2load in a separate process, because a process that reads three gigabytes cannot also
 * measure latency.
 */
async function listAtOnce(url: string): Promise<void> {
  const each = ['-n', String(LISTS), '-c', String(LISTS), '-m', '1', '-w', '22', '-W', '24']
  const { stdout } = await promisify(execFile)('h2load', [
    ...each,
    '-H',
    `authorization: Bearer ${ADMIN_TOKEN}`,
    url,
  ])
  if (!stdout.includes(`${LISTS} succeeded`)) throw new Error(`not every list succeeded: ${stdout}`)
}

/** Writes the objects directly to etcd, in the format in which a server stores them. */
async function fill(endpoint: string): Promise<void> {
  await using client = new EtcdClient({ endpoints: [endpoint] })
  let n = 0
  const lane = async (): Promise<void> => {
    while (n < OBJECTS) {
      const name = `object-${n++}`
      const head = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}","namespace":"${NAMESPACE}","uid":"00000000-0000-4000-8000-${String(n).padStart(12, '0')}","creationTimestamp":"2026-01-01T00:00:00Z"},"data":{"text":"`
      const value = Buffer.from(`${head.padEnd(OBJECT_BYTES - 4, 'x')}"}}\n`)
      await client.kv.put({ key: Buffer.from(`/registry/configmaps/${NAMESPACE}/${name}`), value })
    }
  }
  await Promise.all(Array.from({ length: 32 }, lane))
}

function open(url: string): { session: ClientHttp2Session } & Disposable {
  const session = connect(url, {
    rejectUnauthorized: false,
    settings: { initialWindowSize: 4 << 20 },
  })
  session.on('connect', () => session.setLocalWindowSize(16 << 20))
  return { session, [Symbol.dispose]: () => session.destroy() }
}

/** Reads a response to its end and returns the number of bytes. */
function read(session: ClientHttp2Session, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':path': path,
      authorization: `Bearer ${ADMIN_TOKEN}`,
      accept: 'application/json',
    })
    let bytes = 0
    let status: unknown
    stream.on('response', (headers) => {
      status = headers[constants.HTTP2_HEADER_STATUS]
    })
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    stream.on('end', () =>
      status === 200 ? resolve(bytes) : reject(new Error(`${path} was answered ${String(status)}`)),
    )
    stream.on('error', reject)
  })
}

async function ping(session: ClientHttp2Session, signal: AbortSignal): Promise<number[]> {
  const waits: number[] = []
  while (!signal.aborted) {
    const began = performance.now()
    await read(session, '/api/v1/namespaces/default?resourceVersion=0')
    waits.push(performance.now() - began)
    await sleep(PING_EVERY_MS)
  }
  return waits
}

if (import.meta.main)
  for (const figure of await benchLargeLists()) console.log(describeFigure(figure))
