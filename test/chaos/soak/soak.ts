/**
 * Soak test: `npm run soak`. 50 writers and 200 watchers use a server that is restarted under load,
 * gracefully and by SIGKILL. No acknowledged write may be lost. Every watcher resumes from the last
 * resourceVersion that it received, and must end with the state of a fresh list.
 *
 *   --seconds N   duration of the load (600). The server is restarted every five minutes, and at
 *                 least twice.
 *   --all-on      also enables an audit log of all requests, traces of one request in a hundred,
 *                 and RBAC and flow control for the clients.
 *   --seed S      repeats the random choices of an earlier run.
 *   --json F      writes the counts to F, in the format of bench/results/.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Figure } from '../../../bench/report/figure.ts'
import { writeRun } from '../../../bench/report/kept-run.ts'
import type { ApiServerProcess } from '../../support/harness/api-server.ts'
import { freePorts, startEtcd } from '../../support/harness/etcd.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { Random } from '../simulation/random.ts'
import { AllOn, LIMITED_TOKEN } from './all-on.ts'
import { readList, SoakClient, type SoakObject } from './client.ts'
import { Watcher } from './watcher.ts'
import { Writer } from './writer.ts'

const WRITERS = 50
const WRITERS_PER_CLIENT = 10
const WATCHERS = 200
const WATCHERS_PER_CLIENT = 50
const SECONDS = 600
const RESTARTS_MIN = 2
const RESTART_SECONDS = 300
/**
 * Maximum fraction of audit events that may be missing. Like kube-apiserver, a killed server loses
 * the batch of events that it has not written yet.
 */
const UNWRITTEN_PART_MAX = 0.02
/** Maximum time until every watcher has received the last write. */
const CATCH_UP_MS_MAX = 30_000
const NAMESPACE = 'soak'
const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string' },
      seed: { type: 'string' },
      'all-on': { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  })
  const seconds = Number(values.seconds ?? SECONDS)
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
  const isAllOn = values['all-on']
  console.log(
    `${WRITERS} writers and ${WATCHERS} watchers for ${seconds} s, seed ${seed}${isAllOn ? ', all on' : ''}`,
  )
  const { faults, figures } = await run(seconds, new Random(seed), isAllOn)
  if (values.json !== undefined) writeRun(values.json, figures, { program: 'npm run soak --' })
  for (const fault of faults.slice(0, 20)) console.log(`FAULT ${fault}`)
  if (faults.length === 0) return
  console.log(
    `${faults.length} faults; repeat: node test/chaos/soak/soak.ts --seconds ${seconds} --seed ${seed}${isAllOn ? ' --all-on' : ''}`,
  )
  process.exitCode = 1
}

type Outcome = { readonly faults: readonly string[]; readonly figures: readonly Figure[] }

async function run(seconds: number, random: Random, isAllOn: boolean): Promise<Outcome> {
  await using etcd = await startEtcd()
  await using allOn = isAllOn ? await AllOn.start() : undefined
  const [port = 0] = await freePorts(1)
  const start = (): Promise<ApiServerProcess> =>
    startKeelson({ etcdUrl: etcd.clientUrl, port, args: allOn?.flags ?? [] })
  const running = { server: await start() }
  await using stack = new AsyncDisposableStack()
  stack.defer(() => running.server.stop())
  const url = `https://127.0.0.1:${port}`
  using admin = new SoakClient(url)
  await admin.call('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } })
  await allOn?.allow(admin)

  using clients = new DisposableStack()
  const clientFor = (count: number, perClient: number): SoakClient[] => {
    const made = Array.from({ length: Math.ceil(count / perClient) }, () =>
      clients.use(allOn === undefined ? new SoakClient(url) : new SoakClient(url, LIMITED_TOKEN)),
    )
    return Array.from({ length: count }, (_, at) => made[Math.floor(at / perClient)] ?? admin)
  }
  const watchers = clientFor(WATCHERS, WATCHERS_PER_CLIENT).map(
    (client) => new Watcher(client, path),
  )
  const writers = clientFor(WRITERS, WRITERS_PER_CLIENT).map((client, at) => {
    const name = `w${String(at).padStart(2, '0')}`
    return new Writer(client, { path, name, random: random.fork(name) })
  })

  const writing = new AbortController()
  const watching = new AbortController()
  for (const watcher of watchers) await watcher.list()
  const watched = watchers.map((watcher) => watcher.run(watching.signal))
  const written = writers.map((writer) => writer.run(writing.signal))
  const outages = await restart(running, { start, seconds })
  writing.abort()
  await Promise.all(written)

  const { resourceVersion, items } = await freshList(admin)
  await caughtUp(watchers, items)
  watching.abort()
  const acknowledged = total(writers.map((writer) => writer.acknowledged))
  const events = total(watchers.map((watcher) => watcher.events))
  console.log(
    `${acknowledged} writes acknowledged, ${total(writers.map((writer) => writer.doubtful))} in doubt; ` +
      `${events} events, ${total(watchers.map((watcher) => watcher.resumes))} resumes; ` +
      `not serving for ${outages.map((ms) => `${Math.round(ms)} ms`).join(' and ')}; ${items.length} objects at ${resourceVersion}`,
  )
  const faults = [
    ...writers.flatMap((writer) => writer.faults),
    ...judgeWriters(writers, items),
    ...judgeWatchers(watchers, items),
  ]
  clients.dispose()
  await Promise.all(watched)
  if (allOn !== undefined) {
    // Stop the server, so that it writes its remaining audit events and spans.
    await running.server.stop()
    faults.push(...judgeRecords(allOn.recorded(), acknowledged))
  }
  return { faults, figures: figuresOf({ acknowledged, events, outages, faults: faults.length }) }
}

type Counts = {
  readonly acknowledged: number
  readonly events: number
  readonly outages: readonly number[]
  readonly faults: number
}

function figuresOf({ acknowledged, events, outages, faults }: Counts): readonly Figure[] {
  return [
    { name: 'acknowledged writes', value: acknowledged, unit: 'writes', digits: 0 },
    { name: 'events of all watchers', value: events, unit: 'events', digits: 0 },
    { name: 'longest outage', value: Math.max(0, ...outages), unit: 'ms', digits: 0 },
    { name: 'faults', value: faults, unit: 'faults', digits: 0, target: { below: 1 } },
  ]
}

const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)

/**
 * Restarts the server at regular intervals, alternating between SIGTERM and SIGKILL. Returns the
 * duration of each outage.
 */
async function restart(
  running: { server: ApiServerProcess },
  { start, seconds }: { readonly start: () => Promise<ApiServerProcess>; readonly seconds: number },
): Promise<readonly number[]> {
  const outages: number[] = []
  const count = Math.max(RESTARTS_MIN, Math.floor(seconds / RESTART_SECONDS))
  for (let at = 0; at < count; at++) {
    await sleep((seconds / (count + 1)) * 1000)
    const startMs = performance.now()
    const isOrderly = at % 2 === 0
    if (!isOrderly) process.kill(running.server.pid, 'SIGKILL')
    await running.server.stop()
    running.server = await start()
    outages.push(performance.now() - startMs)
  }
  await sleep((seconds / (count + 1)) * 1000)
  return outages
}

async function freshList(client: SoakClient): Promise<ReturnType<typeof readList>> {
  const { status, body } = await client.call('GET', path)
  if (status !== 200) throw new Error(`the last list: ${status}`)
  return readList(body)
}

/**
 * Waits until every watcher has the same state as the list, or until the time limit is reached. The
 * final check reports watchers whose state differs.
 */
async function caughtUp(watchers: readonly Watcher[], items: readonly SoakObject[]): Promise<void> {
  const untilMs = performance.now() + CATCH_UP_MS_MAX
  while (performance.now() < untilMs && judgeWatchers(watchers, items).length > 0) await sleep(200)
}

function judgeWriters(writers: readonly Writer[], items: readonly SoakObject[]): string[] {
  const there = new Map(items.map((item) => [item.metadata.name, item]))
  const faults: string[] = []
  for (const { known } of writers) {
    for (const [name, reported] of known) {
      const item = there.get(name)
      const isSame =
        item?.metadata.resourceVersion === reported?.resourceVersion &&
        item?.data?.value === reported?.value
      if (!isSame)
        faults.push(
          `${name}: acknowledged ${JSON.stringify(reported)}, found ${JSON.stringify(item)}`,
        )
    }
  }
  return faults
}

function judgeWatchers(watchers: readonly Watcher[], items: readonly SoakObject[]): string[] {
  const faults: string[] = []
  for (const [at, watcher] of watchers.entries()) {
    faults.push(...watcher.faults.map((fault) => `watcher ${at}: ${fault}`))
    const wrong = items.find(
      ({ metadata }) => watcher.state.get(metadata.name) !== metadata.resourceVersion,
    )
    if (wrong !== undefined)
      faults.push(
        `watcher ${at} has ${watcher.state.get(wrong.metadata.name)} of ${JSON.stringify(wrong)}`,
      )
    else if (watcher.state.size !== items.length)
      faults.push(`watcher ${at} has ${watcher.state.size} of ${items.length} objects`)
  }
  return faults
}

function judgeRecords(
  { audited, spans }: { readonly audited: number; readonly spans: number },
  acknowledged: number,
): string[] {
  console.log(`${audited} of the writes are in the audit log, ${spans} spans were received`)
  return [
    ...(audited < acknowledged * (1 - UNWRITTEN_PART_MAX)
      ? [`only ${audited} of ${acknowledged} writes are in the audit log`]
      : []),
    ...(spans === 0 ? ['no span was received'] : []),
  ]
}

await main()
