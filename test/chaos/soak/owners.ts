/**
 * Soak test of the controllers: random owner references while the controllers are killed. No object
 * may be deleted while a live owner still owns it, and no garbage may remain. The default objects
 * of a namespace must be created only once. After the replica that runs the controllers is killed,
 * the other replica must take over quickly.
 *
 *   node test/chaos/soak/owners.ts [--minutes 10] [--seed 1]
 *
 * Two replicas run controllers, and one of them is killed and restarted every 20 s. From time to
 * time, etcd is paused for two seconds. A third replica, without controllers, serves the clients
 * and the watchers of this test. Every wait has a limit, so that a run takes at most four minutes
 * longer than `--minutes`, regardless of the load on the machine.
 */
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Fields, fieldsOf, textOf } from '../../../src/api/object.ts'
import { ADMIN_TOKEN, type ApiServerProcess } from '../../support/harness/api-server.ts'
import { type EtcdProcess, startEtcd } from '../../support/harness/etcd.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { SoakClient } from './client.ts'
import { followEvents } from './event-stream.ts'
import { OwnerJudge } from './owner-judge.ts'
import { configMaps, OwnerLoad } from './owner-load.ts'

const KILL_EVERY_MS = 20_000
/** Maximum time until controllers work again after a kill. */
const TAKE_OVER_MS_MAX = 15_000
/**
 * Time limit for waiting. It exceeds TAKE_OVER_MS_MAX, so that the duration of a late recovery can
 * be reported.
 */
const WAIT_MS_MAX = 3 * TAKE_OVER_MS_MAX
const QUIET_MS_MAX = 60_000
const PAUSE_ETCD_MS = 2_000
const AT_ONCE = 8
const POLL_MS = 20

const namespaces = '/api/v1/namespaces'
const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'

/** Collects the events of several watches. Each of the watches uses its own connection. */
class Observer {
  readonly judge = new OwnerJudge()
  readonly faults: string[] = []
  readonly leaders = new Leaders()
  /**
   * Namespaces in which a default ServiceAccount was created. A namespace in which this happened
   * twice occurs twice.
   */
  readonly accounts: string[] = []
  /** Names of deleted namespaces. */
  readonly ended = new Set<string>()
  readonly #signal: AbortSignal

  constructor(clients: () => SoakClient, signal: AbortSignal) {
    this.#signal = signal
    this.#follow(clients(), configMaps, (event) => this.judge.see(event))
    this.#follow(clients(), lease, ({ object }) => this.leaders.see(object))
    this.#follow(clients(), '/api/v1/serviceaccounts', ({ type, object }) => {
      const { name, namespace } = fieldsOf(object['metadata'])
      if (type === 'ADDED' && name === 'default') this.accounts.push(textOf(namespace))
    })
    this.#follow(clients(), namespaces, ({ type, object }) => {
      if (type === 'DELETED') this.ended.add(textOf(fieldsOf(object['metadata'])['name']))
    })
  }

  #follow(
    client: SoakClient,
    path: string,
    onEvent: Parameters<typeof followEvents>[2]['onEvent'],
  ): void {
    followEvents(client, path, { signal: this.#signal, onEvent }).catch((error: unknown) =>
      this.faults.push(String(error)),
    )
  }
}

/** Tracks which replica holds the Lease of the controllers, and since when. */
class Leaders {
  #holder = ''
  takenMs = 0

  see(object: Fields): void {
    if (fieldsOf(object['metadata'])['name'] !== 'keelson-controllers') return
    const holder = textOf(fieldsOf(object['spec'])['holderIdentity'])
    if (holder !== '' && holder !== this.#holder) this.takenMs = performance.now()
    this.#holder = holder
  }
}

function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Waits until the condition holds. Returns whether it held in time. */
async function comes(holds: () => boolean, ms: number): Promise<boolean> {
  const endMs = performance.now() + ms
  while (!holds() && performance.now() < endMs) await sleep(POLL_MS)
  return holds()
}

/**
 * Creates an object and returns its UID. Retries, because etcd may be paused. Returns undefined
 * when the time limit is reached.
 */
async function create(client: SoakClient, path: string, body: object): Promise<string | undefined> {
  const endMs = performance.now() + WAIT_MS_MAX
  while (performance.now() < endMs) {
    const answer = await client.call('POST', path, body).catch(() => undefined)
    if (answer?.status === 201) return textOf(fieldsOf(fieldsOf(answer.body)['metadata'])['uid'])
    await sleep(POLL_MS)
  }
  return undefined
}

/**
 * Whether the controllers work: they delete an object whose owner does not exist, and create the
 * default ServiceAccount of a new namespace.
 */
async function isWorkDone(
  client: SoakClient,
  { judge, accounts }: Observer,
  id: number,
): Promise<boolean> {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'never' }
  const metadata = { name: `canary${id}`, ownerReferences: [owner] }
  const [canary] = await Promise.all([
    create(client, configMaps, { metadata }),
    create(client, namespaces, { metadata: { name: namespaceOf(id) } }),
  ])
  if (canary === undefined) return false
  return comes(() => judge.gone.has(canary) && accounts.includes(namespaceOf(id)), WAIT_MS_MAX)
}

const namespaceOf = (id: number): string => `work-${id}`

type Kills = { count: number; longestMs: number; leaders: number; readonly faults: string[] }

/**
 * Returns how long the main thread of a process has waited for a CPU, as reported by Linux. On a
 * busy machine, this is most of the duration of a takeover.
 */
const waitedMs = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / NANOSECONDS_PER_MS
const NANOSECONDS_PER_MS = 1e6

type Replicas = { readonly victim: ApiServerProcess; readonly other: ApiServerProcess }

/** Kills one replica, and waits until the controllers of the other replica work. */
async function kill(
  { victim, other }: Replicas,
  client: SoakClient,
  observer: Observer,
  kills: Kills,
): Promise<void> {
  const id = ++kills.count
  const killedMs = performance.now()
  const before = waitedMs(other.pid)
  const restarted = victim.restart('SIGKILL').then(
    () => undefined,
    (error: unknown) =>
      kills.faults.push(`a killed replica could not be restarted: ${String(error)}`),
  )
  const isDone = await isWorkDone(client, observer, id)
  const ms = Math.round(performance.now() - killedMs)
  const taken = observer.leaders.takenMs
  if (taken > killedMs) kills.leaders++
  const by =
    taken > killedMs
      ? `the Lease was taken after ${Math.round(taken - killedMs)} ms`
      : 'the killed replica did not hold the Lease'
  const busy = `load ${loadavg()[0]?.toFixed(1)}, the other replica waited ${Math.round(waitedMs(other.pid) - before)} ms for a CPU`
  console.log(
    `kill ${id}: ${by}, controllers worked again ${isDone ? 'after' : 'not within'} ${ms} ms (${busy})`,
  )
  kills.longestMs = Math.max(kills.longestMs, ms)
  if (!isDone || ms > TAKE_OVER_MS_MAX)
    kills.faults.push(`kill ${id}: controllers did not work for ${ms} ms; ${by} (${busy})`)
  await client.call('DELETE', `${namespaces}/${namespaceOf(id)}`).catch(() => undefined)
  await restarted
  await sleep(Math.max(0, KILL_EVERY_MS - (performance.now() - killedMs)))
}

async function pauseEtcd(etcd: EtcdProcess): Promise<void> {
  etcd.pause()
  await sleep(PAUSE_ETCD_MS)
  etcd.resume()
}

/** Waits until the controllers have finished their work, and returns all faults. */
async function settle(
  client: SoakClient,
  { judge, accounts, ended, faults }: Observer,
  kills: Kills,
): Promise<string[]> {
  const ids = Array.from({ length: kills.count }, (_, at) => at + 1)
  // Delete the namespaces that still exist. An earlier delete may have failed because etcd was
  // paused.
  const left = ids.map(namespaceOf).filter((name) => !ended.has(name))
  for (const name of left)
    await client.call('DELETE', `${namespaces}/${name}`).catch(() => undefined)
  await comes(
    () => judge.garbage().length === 0 && left.every((name) => ended.has(name)),
    QUIET_MS_MAX,
  )
  const twice = ids
    .map(namespaceOf)
    .filter((name) => accounts.indexOf(name) !== accounts.lastIndexOf(name))
  return [
    ...faults,
    ...kills.faults,
    ...judge.garbage().map((name) => `${name} is garbage and was not collected`),
    ...left
      .filter((name) => !ended.has(name))
      .map((name) => `the namespace ${name} was deleted and still exists`),
    ...twice.map((name) => `the default ServiceAccount of ${name} was created twice`),
    ...judge.faults(),
  ]
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: '1' } },
  })
  const random = randomOf(Number(values.seed))
  await using etcd = await startEtcd()
  const start = (...args: string[]): Promise<ApiServerProcess> =>
    startKeelson({ etcdUrl: etcd.clientUrl, args })
  await using observed = await start()
  await using one = await start('--controllers=*')
  await using two = await start('--controllers=*')
  using stack = new DisposableStack()
  const clients = (): SoakClient => stack.use(new SoakClient(observed.url, ADMIN_TOKEN))
  const stopping = new AbortController()
  stack.defer(() => stopping.abort())
  const observer = new Observer(clients, stopping.signal)
  const quiet = new AbortController()
  const loads = Array.from(
    { length: AT_ONCE },
    () => new OwnerLoad(clients(), observer.judge, random),
  )
  const running = loads.map((load) => load.run(quiet.signal))
  const kills: Kills = { count: 0, longestMs: 0, leaders: 0, faults: [] }
  const client = clients()
  const endMs = performance.now() + 60_000 * Number(values.minutes)
  while (performance.now() < endMs) {
    const isFirst = kills.count % 2 === 0
    await kill({ victim: isFirst ? one : two, other: isFirst ? two : one }, client, observer, kills)
    if (kills.count % 3 === 0) await pauseEtcd(etcd)
  }
  quiet.abort()
  await Promise.all(running)
  const faults = await settle(client, observer, kills)
  for (const fault of faults) console.log(`FAULT ${fault}`)
  if (faults.length > 0)
    for (const { log } of [one, two])
      console.log(log.split('\n').filter(isComplaint).slice(-20).join('\n'))
  const operations = loads.reduce((sum, load) => sum + load.operations, 0)
  const { count, leaders, longestMs } = kills
  console.log(
    `seed ${values.seed}: ${operations} operations, ${observer.judge.collected} collected, ${count} kills (${leaders} of the leader), longest takeover ${longestMs} ms, ${faults.length} faults`,
  )
  return faults.length === 0 ? 0 : 1
}

const isComplaint = (line: string): boolean => line !== '' && !line.includes('"level":"info"')

process.exitCode = await main()
