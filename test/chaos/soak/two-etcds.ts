/**
 * Soak test of a server on two etcd clusters, one of which is disturbed:
 * `node test/chaos/soak/two-etcds.ts`. ConfigMaps are stored in a separate cluster of three
 * members, and all other resources in an etcd with one member.
 *
 *   --seconds N   duration (120)
 *   --seed S      repeats the random choices of an earlier run
 *
 * In turn, one cluster is killed, paused or compacted, or loses its quorum, while resources of both
 * are written and watched. Requests for the resources of the other cluster must not be affected.
 * All acknowledged writes must exist at the end, with the revisions of their own etcd.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { type Cluster, startCluster } from '../../support/harness/cluster.ts'
import { compact, readAll, readRevision } from '../../support/harness/gateway.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { until } from '../../support/harness/until.ts'
import { Random } from '../simulation/random.ts'
import { readList, SoakClient, type SoakObject } from './client.ts'
import { Watcher } from './watcher.ts'
import { Writer } from './writer.ts'

const SECONDS = 120
const WRITERS = 8
const WATCHERS = 4
/**
 * Minimum difference between the revisions of the two clusters. It is large enough that the two
 * clusters never have the same revision.
 */
const REVISIONS_APART = 10_000
const PUTS_AT_ONCE = 64
/** Maximum time from the end of a fault until writes to the resource succeed again. */
const RECOVERY_MS_MAX = 30_000
/** Maximum duration of a fault. It exceeds all timeouts for an etcd that does not respond. */
const FAULT_MS_MAX = 10_000

type Side = {
  readonly name: string
  readonly cluster: Cluster
  readonly resource: 'secrets' | 'configmaps'
  readonly path: string
  readonly writers: Writer[]
  readonly watchers: Watcher[]
}

/** Faults of a cluster, by name. At the end of each fault, the cluster is healthy again. */
const disturbances: {
  readonly [name: string]: (cluster: Cluster, random: Random) => Promise<void>
} = {
  killed: async ({ members }, random) => {
    for (const member of members) await member.stop('SIGKILL')
    await sleep(random.next() * FAULT_MS_MAX)
    await Promise.all(members.map((member) => member.start({ wait: false })))
  },
  paused: async ({ members }, random) => {
    for (const member of members) member.pause()
    await sleep(random.next() * FAULT_MS_MAX)
    for (const member of members) member.resume()
  },
  'without a quorum': async ({ members }, random) => {
    const away = members.slice(0, Math.floor(members.length / 2) + 1)
    for (const member of away) member.pause()
    await sleep(random.next() * FAULT_MS_MAX)
    for (const member of away) member.resume()
  },
  compacted: async (cluster) => {
    const { clientUrl } = cluster.member(0)
    await compact(clientUrl, await readRevision(clientUrl))
  },
  'killed and compacted': async (cluster, random) => {
    await disturbances['killed']?.(cluster, random)
    await cluster.ready()
    await disturbances['compacted']?.(cluster, random)
  },
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { seconds: { type: 'string' }, seed: { type: 'string' } },
  })
  const seconds = Number(values.seconds ?? SECONDS)
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
  console.log(`${seconds} s, seed ${seed}`)
  const faults = await run(seconds, new Random(seed))
  for (const fault of faults.slice(0, 20)) console.log(`FAULT ${fault}`)
  console.log(`${faults.length} faults`)
  if (faults.length > 0) process.exitCode = 1
}

async function run(seconds: number, random: Random): Promise<string[]> {
  await using first = await startCluster({ size: 1 })
  await using other = await startCluster({ size: 3 })
  await raiseRevision(other)
  const overrides = `--etcd-servers-overrides=/configmaps#${other.endpoints.join(';')}`
  await using server = await startKeelson({ etcdUrl: first.endpoints.join(','), args: [overrides] })
  using clients = new DisposableStack()
  const client = (): SoakClient => clients.use(new SoakClient(server.url))
  const admin = client()
  const sideOf = (name: string, cluster: Cluster, resource: Side['resource']): Side => {
    const path = `/api/v1/namespaces/default/${resource}`
    const writerOf = (at: number): Writer =>
      new Writer(client(), { path, name: `w${at}`, random: random.fork(`${name} ${at}`) })
    return {
      name,
      cluster,
      resource,
      path,
      writers: Array.from({ length: WRITERS }, (_, at) => writerOf(at)),
      watchers: Array.from(
        { length: WATCHERS },
        () => new Watcher(client(), path, { listsAgain: true }),
      ),
    }
  }
  const sides = [
    sideOf('the main etcd', first, 'secrets'),
    sideOf('the other etcd', other, 'configmaps'),
  ] as const
  const all = {
    writers: sides.flatMap(({ writers }) => writers),
    watchers: sides.flatMap(({ watchers }) => watchers),
  }
  for (const watcher of all.watchers) await watcher.list()
  const [writing, watching] = [new AbortController(), new AbortController()]
  const running = [
    ...all.writers.map((writer) => writer.run(writing.signal)),
    ...all.watchers.map((watcher) => watcher.run(watching.signal)),
  ]
  const faults: string[] = []
  const untilMs = performance.now() + seconds * 1000
  while (performance.now() < untilMs) {
    const [hit, spared] = random.chance(0.5) ? sides : [sides[1], sides[0]]
    const name = random.pick(Object.keys(disturbances))
    faults.push(...(await disturb(name, { hit, spared, random, admin })))
  }
  writing.abort()
  await Promise.all(running.slice(0, all.writers.length))
  for (const side of sides) faults.push(...(await judge(side, admin)))
  watching.abort()
  clients.dispose()
  await Promise.all(running)
  return faults
}

async function raiseRevision(cluster: Cluster): Promise<void> {
  await using client = new EtcdClient({ endpoints: cluster.endpoints })
  let left = REVISIONS_APART
  const lane = async (): Promise<void> => {
    while (left-- > 0) await client.kv.put({ key: Buffer.from('/raised'), value: Buffer.from('x') })
  }
  await Promise.all(Array.from({ length: PUTS_AT_ONCE }, lane))
}

type Outage = {
  readonly hit: Side
  readonly spared: Side
  readonly random: Random
  readonly admin: SoakClient
}

const acknowledged = ({ writers }: Side): number =>
  writers.reduce((sum, writer) => sum + writer.acknowledged, 0)
const doubtful = ({ writers }: Side): number =>
  writers.reduce((sum, writer) => sum + writer.doubtful, 0)

/**
 * Injects one fault into one of the two clusters, and waits for its recovery. Returns the faults of
 * the resource in the other cluster, which must not be affected.
 */
async function disturb(name: string, { hit, spared, random, admin }: Outage): Promise<string[]> {
  const faults: string[] = []
  const [doubtfulBefore, writtenBefore] = [doubtful(spared), acknowledged(spared)]
  let isOver = false
  let lists = 0
  const listing = async (): Promise<void> => {
    while (!isOver) {
      const { status, body } = await admin.call('GET', spared.path)
      lists++
      if (status !== 200)
        faults.push(`${name}: a list of ${spared.resource}: ${JSON.stringify(body).slice(0, 300)}`)
      else faults.push(...mixed(spared, readList(body).resourceVersion))
      await sleep(100)
    }
  }
  const reading = listing()
  await disturbances[name]?.(hit.cluster, random)
  await hit.cluster.ready()
  const written = acknowledged(hit)
  await until(
    () => acknowledged(hit) > written,
    `${hit.resource} are written again`,
    RECOVERY_MS_MAX,
  ).catch((error: unknown) => faults.push(`${hit.name} was ${name}: ${String(error)}`))
  isOver = true
  await reading
  if (doubtful(spared) > doubtfulBefore) {
    faults.push(
      `${hit.name} was ${name}: ${doubtful(spared) - doubtfulBefore} writes of ${spared.resource} failed`,
    )
  }
  const done = `${acknowledged(spared) - writtenBefore} writes and ${lists} lists of ${spared.resource}`
  console.log(`${hit.name} was ${name}: ${done} meanwhile`)
  return faults
}

const isOfOther = ({ resource }: Side): boolean => resource === 'configmaps'

/**
 * Checks that a resourceVersion comes from the cluster in which the resource is stored. All
 * revisions of the separate cluster are higher than those of the main one.
 */
const mixed = (side: Side, version: string): string[] =>
  Number(version) > REVISIONS_APART === isOfOther(side)
    ? []
    : [`${side.resource} at ${version}: from the wrong etcd`]

/**
 * Compares the acknowledged writes, a list, the state of the watchers, and the contents of etcd.
 */
async function judge(side: Side, admin: SoakClient): Promise<string[]> {
  const { status, body } = await admin.call('GET', side.path)
  if (status !== 200) return [`the last list of ${side.resource}: ${status}`]
  const { items, resourceVersion } = readList(body)
  const faults = mixed(side, resourceVersion)
  const { entries } = await readAll(
    side.cluster.member(0).clientUrl,
    `/registry/${side.resource}/default/`,
  )
  const stored = new Map(
    entries.map(({ key, revision }) => [key.slice(key.lastIndexOf('/') + 1), `${revision}`]),
  )
  const listed = new Map(items.map((item) => [item.metadata.name, item]))
  if (stored.size !== listed.size)
    faults.push(`${side.resource}: ${stored.size} stored, ${listed.size} listed`)
  for (const [name, { metadata }] of listed) {
    if (stored.get(name) !== metadata.resourceVersion)
      faults.push(`${name}: stored at ${stored.get(name)}`)
  }
  for (const { known, faults: reported } of side.writers) {
    faults.push(...reported)
    for (const [name, one] of known) {
      const item = listed.get(name)
      if (item?.metadata.resourceVersion !== one?.resourceVersion) {
        faults.push(
          `${name}: acknowledged ${JSON.stringify(one)}, found ${JSON.stringify(item?.metadata)}`,
        )
      }
    }
  }
  await until(
    () => side.watchers.every(({ state }) => isSame(state, listed)),
    'watchers see the end',
  ).catch(() => faults.push(`a watcher of ${side.resource} does not end with the state of a list`))
  for (const watcher of side.watchers) faults.push(...watcher.faults)
  console.log(
    `${side.resource}: ${acknowledged(side)} writes acknowledged, ${doubtful(side)} failed, ${items.length} objects at ${resourceVersion}`,
  )
  return faults
}

const isSame = (
  state: ReadonlyMap<string, string>,
  listed: ReadonlyMap<string, SoakObject>,
): boolean =>
  state.size === listed.size &&
  [...listed].every(([name, { metadata }]) => state.get(name) === metadata.resourceVersion)

await main()
