/**
 * Measures a kind with many objects that only a webhook can convert, while many clients watch the
 * kind in a version other than the stored one. Each object is converted once, in ConversionReviews
 * of limited size. The cached conversions take about as much memory as the objects. Run it
 * directly: node bench/server/conversion.ts [objects] [watchers]
 */
import { isRecord } from '../../test/recorded/compat/json.ts'
import { type ClientHttp2Session, connect } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { ADMIN_TOKEN } from '../../test/support/harness/api-server.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { startKeelson } from '../../test/support/harness/keelson.ts'
import { SoakClient } from '../../test/chaos/soak/client.ts'
import { ConversionHook } from '../../test/chaos/soak/conversion-hook.ts'
import { bodyOf, definitionOf, definitions, pathOf } from '../../test/chaos/soak/custom-kind.ts'
import { describeFigure, type Figure, isMet } from '../report/figure.ts'
import { cpuSeconds, residentMiB } from './process-usage.ts'

const OBJECTS = 50_000
const WATCHERS = 100
const WATCHERS_PER_CONNECTION = 10
const VALUE_BYTES = 800
const WRITERS = 32
/** Number of changes that are made after all watchers have received all objects. */
const CHANGES = 200
/**
 * Wait before memory is measured, because V8 and glibc return unused memory to the system with a
 * delay.
 */
const IDLE_MS = 20_000
const MIB = 1 << 20
const REVIEW_BYTES_MAX = 512 << 10

export async function benchConversion(objects = OBJECTS, watchers = WATCHERS): Promise<Figure[]> {
  await using etcd = await startEtcd({ args: ['--quota-backend-bytes', String(8 << 30)] })
  await using hook = await ConversionHook.start()
  await using keelson = await startKeelson({ etcdUrl: etcd.clientUrl })
  using client = new SoakClient(keelson.url)
  await define(client, hook)
  await write(client, 'POST', { objects })
  const bytes = await countBytes(keelson.url, pathOf('k0', 'v1'))
  await sleep(IDLE_MS)
  const before = residentMiB(keelson.pid)
  const cpuBefore = cpuSeconds(keelson.pid)
  const began = performance.now()
  using crowd = new WatcherCrowd(keelson.url, watchers)
  await crowd.until(objects)
  const seconds = (performance.now() - began) / 1000
  const cpu = cpuSeconds(keelson.pid) - cpuBefore
  const converted = hook.objects
  await sleep(IDLE_MS)
  const after = residentMiB(keelson.pid)
  const reviewsBefore = hook.objects
  await write(client, 'PUT', { objects: CHANGES })
  await crowd.until(objects + CHANGES)
  return [
    { name: 'objects', value: bytes / MIB, unit: 'MiB' },
    {
      name: `time until ${watchers} watchers have seen ${objects} objects`,
      value: seconds,
      unit: 's',
      note: `${cpu.toFixed(1)} s of CPU`,
    },
    {
      name: 'conversions of each object',
      value: converted / objects,
      unit: '',
      target: { below: 1.001 },
    },
    {
      name: 'conversions of each change, for all watchers',
      value: (hook.objects - reviewsBefore) / CHANGES,
      unit: '',
      target: { below: 1.001 },
    },
    {
      name: 'most objects in one review',
      value: hook.objectsMax,
      unit: '',
      target: { below: 501 },
    },
    {
      name: 'longest review',
      value: hook.bytesMax / 1024,
      unit: 'KiB',
      target: { below: REVIEW_BYTES_MAX / 1024 },
    },
    {
      name: 'memory for converted objects, relative to their size',
      value: ((after - before) * MIB) / bytes,
      unit: 'times',
      target: { below: 1.5 },
    },
    {
      name: 'peak memory',
      value: residentMiB(keelson.pid, 'peak'),
      unit: 'MiB',
      note: `${before.toFixed(0)} before, ${after.toFixed(0)} after`,
    },
  ]
}

/** Waits until the server serves the kind in both versions. */
async function define(client: SoakClient, hook: ConversionHook): Promise<void> {
  await client.call('POST', definitions, definitionOf('k0', hook.clientConfig))
  for (const version of ['v1', 'v2'] as const)
    while ((await client.call('GET', pathOf('k0', version)).catch(() => undefined))?.status !== 200)
      await sleep(50)
}

const nameOf = (at: number): string => `o${String(at).padStart(6, '0')}`

async function write(
  client: SoakClient,
  method: 'POST' | 'PUT',
  { objects }: { readonly objects: number },
): Promise<void> {
  let next = 0
  const path = pathOf('k0', 'v1')
  const work = async (): Promise<void> => {
    for (let at = next++; at < objects; at = next++) {
      const name = nameOf(at)
      const found = method === 'PUT' ? await client.call('GET', `${path}/${name}`) : undefined
      const body = found?.body ?? bodyOf('k0', 'v1', { name, value: 'x'.repeat(VALUE_BYTES) })
      const changed =
        isRecord(body) && method === 'PUT'
          ? { ...body, spec: { value: 'y'.repeat(VALUE_BYTES) } }
          : body
      const { status } = await client.call(
        method,
        method === 'PUT' ? `${path}/${name}` : path,
        changed,
      )
      if (status >= 300) throw new Error(`${method} ${name}: ${status}`)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, work))
}

const headersOf = (path: string): { [name: string]: string } => ({
  ':path': path,
  authorization: `Bearer ${ADMIN_TOKEN}`,
})

async function countBytes(url: string, path: string): Promise<number> {
  const session = connect(url, { rejectUnauthorized: false })
  try {
    let bytes = 0
    for await (const chunk of session.request(headersOf(path))) bytes += Buffer.from(chunk).length
    return bytes
  } finally {
    session.destroy()
  }
}

/** Opens watches and counts the lines that they receive. */
class WatcherCrowd implements Disposable {
  readonly #counts: number[]
  readonly #sessions: ClientHttp2Session[]

  constructor(url: string, watchers: number) {
    this.#counts = Array.from({ length: watchers }, () => 0)
    this.#sessions = Array.from({ length: Math.ceil(watchers / WATCHERS_PER_CONNECTION) }, () =>
      connect(url, { rejectUnauthorized: false, settings: { initialWindowSize: 1 << 20 } }),
    )
    for (const at of this.#counts.keys()) {
      const session = this.#sessions[Math.floor(at / WATCHERS_PER_CONNECTION)]
      const stream = session?.request(
        headersOf(`${pathOf('k0', 'v2')}?watch=1&timeoutSeconds=3000`),
      )
      stream?.on('data', (chunk: Buffer) => this.#count(at, chunk)).on('error', () => undefined)
    }
  }

  async until(lines: number): Promise<void> {
    while (this.#counts.some((count) => count < lines)) await sleep(50)
    const [extra] = this.#counts.filter((count) => count > lines)
    if (extra !== undefined)
      throw new Error(`a watcher has seen ${extra} events instead of ${lines}`)
  }

  [Symbol.dispose](): void {
    for (const session of this.#sessions) session.destroy()
  }

  #count(at: number, chunk: Buffer): void {
    for (let found = chunk.indexOf(10); found !== -1; found = chunk.indexOf(10, found + 1))
      this.#counts[at] = (this.#counts[at] ?? 0) + 1
  }
}

if (import.meta.main) {
  const [objects = OBJECTS, watchers = WATCHERS] = process.argv.slice(2).map(Number)
  const figures = await benchConversion(objects, watchers)
  for (const figure of figures) console.log(describeFigure(figure))
  if (!figures.every(isMet)) process.exitCode = 1
}
