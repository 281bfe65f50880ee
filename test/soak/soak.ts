/**
 * The soak: `npm run soak`. 50 writers and 200 watchers on a server that is restarted under them, once in order and once by
 * SIGKILL. Nothing that was acknowledged may be lost, and every watcher, going on from the last version it saw, must end with
 * what a fresh list has.
 *
 *   --seconds N   how long they write (600)
 *   --seed S      the choices of an earlier run
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { ApiServerProcess } from '../harness/api-server.ts'
import { freePorts, startEtcd } from '../harness/etcd.ts'
import { startKeelson } from '../harness/keelson.ts'
import { Random } from '../simulation/random.ts'
import { readList, SoakClient, type SoakObject } from './client.ts'
import { Watcher } from './watcher.ts'
import { Writer } from './writer.ts'

const WRITERS = 50
const WRITERS_PER_CLIENT = 10
const WATCHERS = 200
const WATCHERS_PER_CLIENT = 50
const SECONDS = 600
/** After the last write every watcher has this long to see it. */
const CATCH_UP_MS_MAX = 30_000
const NAMESPACE = 'soak'
const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { seconds: { type: 'string' }, seed: { type: 'string' } } })
  const seconds = Number(values.seconds ?? SECONDS)
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
  console.log(`${WRITERS} writers and ${WATCHERS} watchers for ${seconds} s, seed ${seed}`)
  const faults = await run(seconds, new Random(seed))
  for (const fault of faults.slice(0, 20)) console.log(`FAULT ${fault}`)
  if (faults.length === 0) return
  console.log(`${faults.length} faults; repeat: node test/soak/soak.ts --seconds ${seconds} --seed ${seed}`)
  process.exitCode = 1
}

async function run(seconds: number, random: Random): Promise<readonly string[]> {
  await using etcd = await startEtcd()
  const [port = 0] = await freePorts(1)
  const start = (): Promise<ApiServerProcess> => startKeelson({ etcdUrl: etcd.clientUrl, port })
  const running = { server: await start() }
  await using stack = new AsyncDisposableStack()
  stack.defer(() => running.server.stop())
  const url = `https://127.0.0.1:${port}`
  using admin = new SoakClient(url)
  await admin.call('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } })

  using clients = new DisposableStack()
  const clientFor = (count: number, perClient: number): SoakClient[] => {
    const made = Array.from({ length: Math.ceil(count / perClient) }, () => clients.use(new SoakClient(url)))
    return Array.from({ length: count }, (_, at) => made[Math.floor(at / perClient)] ?? admin)
  }
  const watchers = clientFor(WATCHERS, WATCHERS_PER_CLIENT).map((client) => new Watcher(client, path))
  const writers = clientFor(WRITERS, WRITERS_PER_CLIENT).map((client, at) => {
    const name = `w${String(at).padStart(2, '0')}`
    return new Writer(client, { path, name, random: random.fork(name) })
  })

  const writing = new AbortController()
  const watching = new AbortController()
  for (const watcher of watchers) await watcher.list()
  const watched = watchers.map((watcher) => watcher.run(watching.signal))
  const written = writers.map((writer) => writer.run(writing.signal))
  const outages = await restartTwice(running, { start, seconds })
  writing.abort()
  await Promise.all(written)

  const { resourceVersion, items } = await freshList(admin)
  await caughtUp(watchers, items)
  watching.abort()
  console.log(
    `${total(writers.map((writer) => writer.acknowledged))} writes acknowledged, ${total(writers.map((writer) => writer.doubtful))} in doubt; ` +
      `${total(watchers.map((watcher) => watcher.events))} events, ${total(watchers.map((watcher) => watcher.resumes))} resumes; ` +
      `not serving for ${outages.map((ms) => `${Math.round(ms)} ms`).join(' and ')}; ${items.length} objects at ${resourceVersion}`,
  )
  const faults = [
    ...writers.flatMap((writer) => writer.faults),
    ...judgeWriters(writers, items),
    ...judgeWatchers(watchers, items),
  ]
  clients.dispose()
  await Promise.all(watched)
  return faults
}

const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)

/** At a third of the time in order, at two thirds not. Comes back with how long each outage was. */
async function restartTwice(
  running: { server: ApiServerProcess },
  { start, seconds }: { readonly start: () => Promise<ApiServerProcess>; readonly seconds: number },
): Promise<readonly number[]> {
  const outages: number[] = []
  for (const isOrderly of [true, false]) {
    await sleep((seconds / 3) * 1000)
    const startMs = performance.now()
    if (!isOrderly) process.kill(running.server.pid, 'SIGKILL')
    await running.server.stop()
    running.server = await start()
    outages.push(performance.now() - startMs)
  }
  await sleep((seconds / 3) * 1000)
  return outages
}

async function freshList(client: SoakClient): Promise<ReturnType<typeof readList>> {
  const { status, body } = await client.call('GET', path)
  if (status !== 200) throw new Error(`the last list: ${status}`)
  return readList(body)
}

/** Until every watcher has what the list has, or the time is up: then the judge will say who has not. */
async function caughtUp(watchers: readonly Watcher[], items: readonly SoakObject[]): Promise<void> {
  const untilMs = performance.now() + CATCH_UP_MS_MAX
  while (performance.now() < untilMs && judgeWatchers(watchers, items).length > 0) await sleep(200)
}

function judgeWriters(writers: readonly Writer[], items: readonly SoakObject[]): string[] {
  const there = new Map(items.map((item) => [item.metadata.name, item]))
  const faults: string[] = []
  for (const { known } of writers) {
    for (const [name, told] of known) {
      const item = there.get(name)
      const isSame = item?.metadata.resourceVersion === told?.resourceVersion && item?.data?.value === told?.value
      if (!isSame) faults.push(`${name}: told ${JSON.stringify(told)}, found ${JSON.stringify(item)}`)
    }
  }
  return faults
}

function judgeWatchers(watchers: readonly Watcher[], items: readonly SoakObject[]): string[] {
  const faults: string[] = []
  for (const [at, watcher] of watchers.entries()) {
    faults.push(...watcher.faults.map((fault) => `watcher ${at}: ${fault}`))
    const wrong = items.find(({ metadata }) => watcher.state.get(metadata.name) !== metadata.resourceVersion)
    if (wrong !== undefined)
      faults.push(`watcher ${at} has ${watcher.state.get(wrong.metadata.name)} of ${JSON.stringify(wrong)}`)
    else if (watcher.state.size !== items.length)
      faults.push(`watcher ${at} has ${watcher.state.size} of ${items.length} objects`)
  }
  return faults
}

await main()
