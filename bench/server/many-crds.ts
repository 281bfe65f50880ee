/**
 * Measures a server with thousands of CustomResourceDefinitions: the time until all are served, the
 * memory per definition, and how much slower other requests become. Also measures how long another
 * server takes to start with them, and whether the memory is returned after they are deleted. Run
 * it directly: node bench/server/many-crds.ts [count]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { startKeelson } from '../../test/support/harness/keelson.ts'
import { describeFigure, type Figure } from '../report/figure.ts'
import { definition, DefinitionsClient, groupOf } from './crds.ts'
import { cpuSeconds, residentMiB } from './process-usage.ts'

const COUNT = 2_000
/** Maximum time until COUNT definitions are served, in seconds. */
const SERVED_S_MAX = 60
const FIRST_REQUESTS = 100
/**
 * Number of definitions that are created and deleted one by one, to measure how soon each change
 * takes effect.
 */
const SINGLES = 50
const PING_EVERY_MS = 5
const IDLE_MS = 5_000
/**
 * Maximum wait until memory is returned. Recently used data is cached for one minute, and OpenAPI
 * documents for two. V8 returns unused memory some hundred seconds after its last collection.
 */
const BACK_MS_MAX = 300_000
const BACK_LOOK_MS = 1_000
/**
 * Maximum memory that may remain, in MiB. After many writes, V8 retains buffers of about 60 MB
 * until its next collection, and glibc does not return their memory.
 */
const LEFT_MIB_MAX = 64

export async function benchManyDefinitions(count = COUNT): Promise<Figure[]> {
  await using etcd = await startEtcd({ args: ['--quota-backend-bytes', String(8 << 30)] })
  await using keelson = await startKeelson({ etcdUrl: etcd.clientUrl })
  using client = new DefinitionsClient(keelson.url)
  await client.createObject(0).catch(() => undefined)
  const alone = await comingAndGoing(client, count, 'alone')
  const before = residentMiB(keelson.pid)
  const bytes = JSON.stringify(definition(0)).length
  const pinger = new Pinger(keelson.url)
  const began = performance.now()
  await client.createAll(count)
  await client.waitUntilServed(count)
  const seconds = (performance.now() - began) / 1000
  const waits = await pinger.stop()
  await sleep(IDLE_MS)
  const idle = residentMiB(keelson.pid)
  const documents = await documentFigures(client)
  const firsts = await firstRequests(client, count)
  const among = await comingAndGoing(client, count, `among ${count}`)
  const second = await startAnother(etcd.clientUrl)
  const deleting = performance.now()
  await client.deleteAll(count)
  const deleted = (performance.now() - deleting) / 1000
  const left = await memoryLeft(keelson.pid, before)
  return [
    {
      name: `time until ${count} definitions are served`,
      value: seconds,
      unit: 's',
      target: { below: SERVED_S_MAX * Math.max(count / COUNT, 1) },
    },
    {
      name: 'memory per definition beyond its own bytes',
      value: ((idle - before) * 1024) / count - bytes / 1024,
      unit: 'KiB',
      target: { below: 100 },
      note: `${bytes} bytes each; ${before.toFixed(0)} MiB before, ${idle.toFixed(0)} MiB with them`,
    },
    {
      name: 'longest wait of a small request meanwhile',
      value: waits.at(-1) ?? Number.NaN,
      unit: 'ms',
      note: spread(waits),
    },
    {
      name: 'first request to a defined resource, slowest',
      value: firsts.at(-1) ?? Number.NaN,
      unit: 'ms',
      target: { below: 20 },
      note: spread(firsts),
    },
    ...documents,
    ...alone,
    ...among,
    ...second,
    { name: 'time until all are deleted and gone', value: deleted, unit: 's' },
    left,
  ]
}

/**
 * Measures how soon a definition is served after its creation, and how soon it is no longer served
 * after its deletion, in milliseconds.
 */
async function comingAndGoing(
  client: DefinitionsClient,
  first: number,
  where: string,
): Promise<Figure[]> {
  const served: number[] = []
  const withdrawn: number[] = []
  for (let at = first; at < first + SINGLES; at++) {
    await client.create(at)
    const began = performance.now()
    await client.waitForCollection(at)
    served.push(performance.now() - began)
    await client.delete(at)
    withdrawn.push(await client.waitUntilWithdrawn(at))
  }
  const figure = (name: string, times: number[]): Figure => {
    const sorted = times.toSorted((a, b) => a - b)
    return {
      name: `${name}, ${where}`,
      value: sorted.at(-1) ?? Number.NaN,
      unit: 'ms',
      target: { below: 50 },
      note: spread(sorted),
    }
  }
  return [
    figure('time until one is served, slowest', served),
    figure('time until one is withdrawn, slowest', withdrawn),
  ]
}

async function documentFigures(client: DefinitionsClient): Promise<Figure[]> {
  const apis = await median(() => client.aggregated())
  const ask = (path: string) => (): Promise<{ readonly body: Buffer }> => client.ask({ path })
  const index = await timed(ask('/openapi/v3'))
  const indexAgain = await median(ask('/openapi/v3'))
  const group = await timed(ask(`/openapi/v3/apis/${groupOf(0)}/v1`))
  const whole = await timed(ask('/openapi/v2'))
  return [
    {
      name: '/apis with all of them, median',
      value: apis.ms,
      unit: 'ms',
      target: { below: 20 },
      note: apis.note,
    },
    {
      name: '/openapi/v3 for the first time',
      value: index.ms,
      unit: 'ms',
      target: { below: 1_000 },
      note: index.note,
    },
    {
      name: '/openapi/v3 after that, median',
      value: indexAgain.ms,
      unit: 'ms',
      target: { below: 20 },
    },
    {
      name: '/openapi/v3 of one group of 10, first',
      value: group.ms,
      unit: 'ms',
      note: group.note,
    },
    { name: '/openapi/v2 for the first time', value: whole.ms, unit: 'ms', note: whole.note },
  ]
}

type TimedStep = { readonly ms: number; readonly note: string }

async function timed(ask: () => Promise<{ readonly body: Buffer }>): Promise<TimedStep> {
  const began = performance.now()
  const { body } = await ask()
  return { ms: performance.now() - began, note: `${(body.length / 1024).toFixed(0)} KiB` }
}

async function median(ask: () => Promise<{ readonly body: Buffer }>): Promise<TimedStep> {
  const all: TimedStep[] = []
  for (let run = 0; run < 21; run++) all.push(await timed(ask))
  return all.toSorted((a, b) => a.ms - b.ms)[10] ?? { ms: Number.NaN, note: '' }
}

/**
 * Sends the first request for the objects of some definitions. Returns the durations of these
 * requests in milliseconds, in ascending order.
 */
async function firstRequests(client: DefinitionsClient, count: number): Promise<number[]> {
  const times: number[] = []
  const step = Math.max(Math.floor(count / FIRST_REQUESTS), 1)
  for (let at = 0; at < count; at += step) {
    const began = performance.now()
    await client.createObject(at)
    times.push(performance.now() - began)
  }
  return times.toSorted((a, b) => a - b)
}

async function startAnother(etcdUrl: string): Promise<Figure[]> {
  const began = performance.now()
  await using keelson = await startKeelson({ etcdUrl })
  const ms = performance.now() - began
  const cpu = cpuSeconds(keelson.pid)
  await sleep(IDLE_MS)
  return [
    {
      name: 'time until another server is ready',
      value: ms,
      unit: 'ms',
      note: `${cpu.toFixed(1)} s of CPU`,
    },
    { name: 'memory of that server', value: residentMiB(keelson.pid), unit: 'MiB' },
  ]
}

/** Polls until the remaining memory is below the limit or the time has expired. */
async function memoryLeft(pid: number, before: number): Promise<Figure> {
  const began = performance.now()
  let left = residentMiB(pid) - before
  const most = left
  while (left >= LEFT_MIB_MAX && performance.now() - began < BACK_MS_MAX) {
    await sleep(BACK_LOOK_MS)
    left = residentMiB(pid) - before
  }
  const seconds = (performance.now() - began) / 1000
  const note = `${before.toFixed(0)} MiB before; ${most.toFixed(0)} MiB left at first, the value after ${seconds.toFixed(0)} s`
  return {
    name: 'memory left when all definitions are gone',
    value: left,
    unit: 'MiB',
    target: { below: LEFT_MIB_MAX },
    note,
  }
}

/**
 * Sends small requests while a load is running. Their duration shows how long the server is busy
 * with other work.
 */
class Pinger {
  readonly #client: DefinitionsClient
  readonly #stopping = new AbortController()
  readonly #waits: Promise<number[]>

  constructor(url: string) {
    this.#client = new DefinitionsClient(url)
    this.#waits = this.#ping()
  }

  /** Stops the requests and returns their durations in milliseconds, in ascending order. */
  async stop(): Promise<number[]> {
    this.#stopping.abort()
    const waits = await this.#waits
    this.#client[Symbol.dispose]()
    return waits.toSorted((a, b) => a - b)
  }

  async #ping(): Promise<number[]> {
    const waits: number[] = []
    while (!this.#stopping.signal.aborted) {
      const { ms } = await timed(() =>
        this.#client.ask({ path: '/api/v1/namespaces/default?resourceVersion=0' }),
      )
      waits.push(ms)
      await sleep(PING_EVERY_MS)
    }
    return waits
  }
}

const spread = (sorted: readonly number[]): string =>
  `half of ${sorted.length} under ${sorted[sorted.length >> 1]?.toFixed(1)} ms, 99 % under ${sorted[Math.floor(sorted.length * 0.99)]?.toFixed(1)} ms`

if (import.meta.main) {
  for (const figure of await benchManyDefinitions(Number(process.argv[2] ?? COUNT)))
    console.log(describeFigure(figure))
}
