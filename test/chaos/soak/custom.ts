/**
 * Soak test of custom resources. Definitions are created, changed and deleted on two replicas,
 * while other clients write and watch in two versions. A conversion webhook is killed from time to
 * time. No acknowledged write may be lost, no request may hang, and no definition may be stuck.
 * Every watcher must end with the state of a fresh list.
 *
 *   node test/chaos/soak/custom.ts [--minutes 10] [--seed S]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Fields, fieldsOf, itemsOf, textOf } from '../../../src/api/object.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { Random } from '../simulation/random.ts'
import { SoakClient } from './client.ts'
import { ConversionHook } from './conversion-hook.ts'
import {
  bodyOf,
  call,
  definitionOf,
  definitionPath,
  definitions,
  KindWatcher,
  KindWriter,
  pathOf,
  readSeen,
  type Run,
  versions,
} from './custom-kind.ts'

/** Number of permanent kinds. The webhook converts half of them. */
const KINDS = 6
const WRITERS_PER_KIND = 3
const CLIENTS_PER_REPLICA = 4
/** Number of definitions that are created and deleted in a loop, concurrently. */
const COMERS = 3
/** Time after which a definition counts as stuck if it is not yet served, changed or deleted. */
const SETTLED_MS_MAX = 30_000
/** Maximum time until every watcher has received the last write. */
const CATCH_UP_MS_MAX = 30_000

const isComplaint = (line: string): boolean => line !== '' && !line.includes('"level":"info"')

type Check = { readonly name: string; readonly fault: string | undefined }

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { minutes: { type: 'string' }, seed: { type: 'string' } },
  })
  const minutes = Number(values.minutes ?? 10)
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
  console.log(
    `${KINDS} kinds in ${versions.length} versions on two replicas for ${minutes} minutes, seed ${seed}`,
  )
  const checks = await soak(minutes * 60_000, new Random(seed))
  const faults = checks.filter(({ fault }) => fault !== undefined)
  for (const { name, fault } of faults.slice(0, 20)) console.log(`FAULT ${name}: ${fault}`)
  if (faults.length > 0) process.exitCode = 1
  console.log(`${checks.length - faults.length} passed, ${faults.length} failed`)
}

async function soak(ms: number, random: Random): Promise<readonly Check[]> {
  await using etcd = await startEtcd()
  await using one = await startKeelson({ etcdUrl: etcd.clientUrl })
  await using other = await startKeelson({ etcdUrl: etcd.clientUrl })
  await using logs = new AsyncDisposableStack()
  // Print warnings and errors of the servers before they are disposed of.
  logs.defer(() => {
    for (const { log } of [one, other])
      console.log(log.split('\n').filter(isComplaint).slice(-20).join('\n'))
  })
  await using hook = await ConversionHook.start()
  using stack = new DisposableStack()
  const replicas = [one.url, other.url]
  const clientsOf = (url: string): SoakClient[] =>
    Array.from({ length: CLIENTS_PER_REPLICA }, () => stack.use(new SoakClient(url)))
  const run: Run = { clients: replicas.flatMap(clientsOf), random, faults: [], refusals: new Map() }
  const configOf = (at: number) => (at % 2 === 0 ? hook.clientConfig : undefined)
  const kinds = Array.from({ length: KINDS }, (_, at) => `k${at}`)
  for (const [at, plural] of kinds.entries()) {
    await call(run, 'POST', definitions, definitionOf(plural, configOf(at)))
    for (const url of replicas) await served(new SoakClient(url), stack, plural)
  }
  const writers = kinds.flatMap((plural, at) =>
    Array.from(
      { length: WRITERS_PER_KIND },
      (__, n) =>
        new KindWriter(run, { plural, name: `w${n}`, isConverted: configOf(at) !== undefined }),
    ),
  )
  const watchers = kinds.flatMap((plural) =>
    replicas.flatMap((url) => {
      const client = stack.use(new SoakClient(url))
      return versions.map((version) => new KindWatcher(client, pathOf(plural, version)))
    }),
  )
  const ending = new AbortController()
  const watching = new AbortController()
  const { signal } = ending
  const counts = { changes: 0, cycles: 0, deaths: 0 }
  const watched = watchers.map((watcher) => watcher.run(watching.signal))
  const tasks = [
    ...writers.map((writer) => writer.run(signal)),
    changing(run, { kinds, configOf, counts }, signal),
    ...Array.from({ length: COMERS }, (_, at) => comingAndGoing(run, { at, hook, counts }, signal)),
    dying(hook, { random, counts }, signal),
  ]
  const done = Promise.all(tasks)
  // Log an error in the code of the test immediately, because later errors could hide it.
  done.catch((error: unknown) => console.log('FAULT of the soak itself:', error))
  await sleep(ms)
  ending.abort()
  await done
  const checks = [
    ...(await judge(run, { kinds, writers, watchers })),
    ...run.faults.map((fault) => ({ name: 'run', fault })),
  ]
  watching.abort()
  stack.dispose()
  await Promise.all(watched)
  printTotals({ writers, watchers, hook }, counts)
  for (const [text, count] of run.refusals) console.log(`  ${count} times ${text}`)
  return [
    ...checks,
    ...Array.from({ length: counts.cycles }, (_, at) => ({
      name: `cycle ${at}`,
      fault: undefined,
    })),
  ]
}

type Participants = {
  readonly writers: readonly KindWriter[]
  readonly watchers: readonly KindWatcher[]
  readonly hook: ConversionHook
}

function printTotals({ writers, watchers, hook }: Participants, counts: Counts): void {
  console.log(
    `${total(writers.map(({ acknowledged }) => acknowledged))} writes acknowledged, ${total(writers.map(({ doubtful }) => doubtful))} in doubt; ` +
      `${total(watchers.map(({ events }) => events))} events, ${total(watchers.map(({ lists }) => lists))} lists; ` +
      `${counts.changes} changes of definitions, ${counts.cycles} definitions created and deleted, the webhook died ${counts.deaths} times; ` +
      `${hook.reviews} reviews of ${hook.objects} objects`,
  )
}

const total = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0)

async function served(client: SoakClient, stack: DisposableStack, plural: string): Promise<void> {
  stack.use(client)
  // Ignore the error of a response that is not JSON, which the server sends before it serves the
  // kind.
  while ((await client.call('GET', pathOf(plural, 'v2')).catch(() => undefined))?.status !== 200)
    await sleep(20)
}

type Counts = { changes: number; cycles: number; deaths: number }

/** Changes definitions at random. Each change rebuilds the resources of both versions. */
async function changing(
  run: Run,
  {
    kinds,
    configOf,
    counts,
  }: {
    kinds: readonly string[]
    configOf: (at: number) => Fields | undefined
    counts: Counts
  },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(1_000)
    const at = run.random.between(0, kinds.length - 1)
    const path = definitionPath(kinds[at] ?? '')
    try {
      const { body } = await call(run, 'GET', path)
      const { spec } = definitionOf(kinds[at] ?? '', configOf(at), ++counts.changes)
      await call(run, 'PUT', path, {
        ...body,
        spec: { ...fieldsOf(body['spec']), versions: fieldsOf(spec)['versions'] },
      })
    } catch {
      // Ignore a failed change. The next round makes another one.
    }
  }
}

/**
 * Creates and deletes a definition of the same name in a loop. No object of the previous definition
 * may remain, and deletion must wait for a finalizer.
 */
async function comingAndGoing(
  run: Run,
  { at, hook, counts }: { at: number; hook: ConversionHook; counts: Counts },
  signal: AbortSignal,
): Promise<void> {
  const plural = `t${at}`
  while (!signal.aborted) {
    try {
      await create(run, plural, at === 0 ? hook.clientConfig : undefined)
      await remove(run, plural)
      counts.cycles++
    } catch (error) {
      run.faults.push(textOf(error instanceof Error ? error.message : ''))
      return
    }
  }
}

/** Creates a definition and three objects, of which `held` has a finalizer. */
async function create(run: Run, plural: string, clientConfig: Fields | undefined): Promise<void> {
  await until(
    `${plural} is created`,
    async () =>
      (await call(run, 'POST', definitions, definitionOf(plural, clientConfig))).status === 201,
  )
  const path = pathOf(plural, 'v1')
  // Check with every client, so that both replicas serve the kind.
  for (const client of run.clients)
    await until(`${plural} is served`, async () => (await client.call('GET', path)).status === 200)
  const { body } = await call(run, 'GET', path)
  if (itemsOf(body['items']).length > 0)
    run.faults.push(`${plural} has objects of the previous definition`)
  for (const name of ['a', 'b', 'held']) {
    const object = bodyOf(plural, 'v1', { name, value: '1' })
    const metadata = name === 'held' ? { name, finalizers: ['soak.example.com/hold'] } : { name }
    await until(
      `${plural} is written to`,
      async () => (await call(run, 'POST', path, { ...object, metadata })).status === 201,
    )
  }
}

/** Deletes a definition. The deletion ends when the finalizer of `held` is removed. */
async function remove(run: Run, plural: string): Promise<void> {
  const definition = definitionPath(plural)
  const path = pathOf(plural, 'v1')
  await until(
    `${plural} is deleted`,
    async () => (await call(run, 'DELETE', definition)).status === 200,
  )
  await until(`${plural} is waiting for its finalizer`, async () => {
    const { body: list } = await call(run, 'GET', path)
    const names = itemsOf(list['items']).map((item) => readSeen(item).name)
    return names.join() === 'held'
  })
  await until(`${plural} is released`, async () => {
    const { body: object } = await call(run, 'GET', `${path}/held`)
    const { finalizers: _, ...metadata } = fieldsOf(object['metadata'])
    return (await call(run, 'PUT', `${path}/held`, { ...object, metadata })).status === 200
  })
  await until(`${plural} is gone`, async () => (await call(run, 'GET', definition)).status === 404)
}

/** Checks the condition repeatedly until it holds. Throws an error if it does not hold in time. */
async function until(state: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + SETTLED_MS_MAX
  while (!(await holds().catch(() => false))) {
    if (performance.now() > end) throw new Error(`not after ${SETTLED_MS_MAX} ms: ${state}`)
    await sleep(20)
  }
}

async function dying(
  hook: ConversionHook,
  { random, counts }: { random: Random; counts: Counts },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(random.between(3_000, 10_000))
    await hook.die()
    counts.deaths++
    await sleep(random.between(200, 2_000))
    await hook.listen()
  }
}

type JudgedRun = {
  readonly kinds: readonly string[]
  readonly writers: readonly KindWriter[]
  readonly watchers: readonly KindWatcher[]
}

async function judge(run: Run, { kinds, writers, watchers }: JudgedRun): Promise<readonly Check[]> {
  const checks: Check[] = []
  for (const [at, plural] of kinds.entries()) {
    const own = writers.slice(at * WRITERS_PER_KIND, (at + 1) * WRITERS_PER_KIND)
    const known = new Map(
      own.flatMap((writer) => [...writer.known]).filter(([, seen]) => seen !== undefined),
    )
    for (const version of versions) {
      const path = pathOf(plural, version)
      for (const client of run.clients) {
        const { body } = await client.call('GET', path)
        const items = new Map(
          itemsOf(fieldsOf(JSON.parse(JSON.stringify(body)))['items']).map((item) => [
            readSeen(item).name,
            readSeen(item),
          ]),
        )
        checks.push({ name: `list ${path}`, fault: differenceOf(known, items) })
      }
      const end = performance.now() + CATCH_UP_MS_MAX
      for (const watcher of watchers.filter((one) => one.path === path)) {
        while (differenceOf(known, watcher.state) !== undefined && performance.now() < end)
          await sleep(100)
        checks.push({ name: `watcher ${path}`, fault: differenceOf(known, watcher.state) })
      }
    }
  }
  return checks
}

type HeldObject = { readonly value: string; readonly resourceVersion: string }

function differenceOf(
  known: ReadonlyMap<string, HeldObject | undefined>,
  found: ReadonlyMap<string, HeldObject>,
): string | undefined {
  for (const [name, reported] of known) {
    const item = found.get(name)
    if (item?.resourceVersion !== reported?.resourceVersion || item?.value !== reported?.value)
      return `${name}: acknowledged ${JSON.stringify(reported)}, found ${JSON.stringify(item)}`
  }
  return known.size === found.size ? undefined : `${found.size} objects instead of ${known.size}`
}

await main()
