/**
 * Random owners while the controllers are killed: nothing is deleted that a live owner still owns, no garbage is left, and work goes on soon after
 * a replica that runs the controllers was killed.
 *
 *   node test/soak/owners.ts [--minutes 10] [--seed 1]
 *
 * Two replicas run controllers, and one of them is killed and started again every 20 s; etcd is stopped for two seconds now and then. A third one, without controllers, serves the
 * clients and tells what happens to objects.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Http2Client } from '../../bench/server/http2-client.ts'
import type { ApiServerProcess } from '../harness/api-server.ts'
import { startEtcd } from '../harness/etcd.ts'
import { startKeelson } from '../harness/keelson.ts'

const KILL_EVERY_MS = 20_000
/** Work has to go on by then. */
const TAKE_OVER_MS_MAX = 15_000
const QUIET_MS_MAX = 60_000
const OBJECTS = 60
const AT_ONCE = 8
const path = '/api/v1/namespaces/default/configmaps'

type Reference = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly blockOwnerDeletion: boolean
}
type Meta = {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly deletionTimestamp?: string
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly Reference[]
}
type WatchEvent = { readonly type: string; readonly object: { readonly metadata: Meta } }

/** What happened to objects, in the order of revisions, and what of it was wrong. */
class Judge {
  readonly live = new Map<string, Meta>()
  /** The uids of objects that the test itself deleted, and the names of those that it may have deleted. */
  readonly asked = new Set<string>()
  readonly askedNames = new Set<string>()
  /** Who was deleted, and what was wrong with that unless the test did it. */
  readonly #deleted: { readonly meta: Meta; readonly fault: string | undefined }[] = []
  /** The uids of those that were deleted in the foreground. */
  readonly #waited = new Set<string>()
  #rest = ''

  take(piece: Buffer): void {
    const lines = (this.#rest + piece.toString()).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#judge(JSON.parse(line))
  }

  #judge({ type, object: { metadata } }: WatchEvent): void {
    const { uid } = metadata
    // What happens to an object that is being deleted already does not matter any more.
    const isDecided = this.live.get(uid)?.deletionTimestamp !== undefined
    const isDeleted = type === 'DELETED' || metadata.deletionTimestamp !== undefined
    if (isDeleted && !isDecided) this.#deleted.push({ meta: metadata, fault: this.#faultOf(metadata) })
    if (isWaiting(metadata)) this.#waited.add(uid)
    if (type === 'DELETED') this.live.delete(uid)
    else this.live.set(uid, metadata)
  }

  #faultOf({ name, resourceVersion, ownerReferences = [] }: Meta): string | undefined {
    if (ownerReferences.length === 0) return `${name} was deleted without an owner`
    for (const reference of ownerReferences) {
      const owner = this.live.get(reference.uid)
      // One that waited for its dependents when that was decided may be deleted otherwise now.
      if (owner === undefined || owner.name !== reference.name || this.#waited.has(owner.uid)) continue
      return `${name} was deleted at ${resourceVersion}, but its owner ${owner.name} was there`
    }
    return undefined
  }

  /** An answer may come after the event: who deleted an object is known at the end. */
  #byCollector(): { readonly fault: string | undefined }[] {
    return this.#deleted.filter(({ meta: { uid, name } }) => !this.asked.has(uid) && !this.askedNames.has(name))
  }

  get collected(): number {
    return this.#byCollector().length
  }

  faults(): string[] {
    return this.#byCollector().flatMap(({ fault }) => fault ?? [])
  }

  garbage(): string[] {
    const isGarbage = ({ ownerReferences = [] }: Meta): boolean =>
      ownerReferences.length > 0 && ownerReferences.every(({ uid, name }) => this.live.get(uid)?.name !== name)
    return [...this.live.values()].filter(isGarbage).map(({ name }) => name)
  }
}

const isWaiting = ({ deletionTimestamp, finalizers = [] }: Meta): boolean =>
  deletionTimestamp !== undefined && finalizers.includes('foregroundDeletion')

function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

class Load {
  readonly #client: Http2Client
  readonly #judge: Judge
  readonly #random: () => number
  operations = 0

  constructor(client: Http2Client, judge: Judge, random: () => number) {
    this.#client = client
    this.#judge = judge
    this.#random = random
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.operations++
      // What fails because etcd stands still, or because somebody else was first, is part of it.
      await this.#once().catch(() => undefined)
    }
  }

  #pick(): Meta | undefined {
    const all = [...this.#judge.live.values()].filter(({ name }) => name.startsWith('o'))
    return all[Math.floor(this.#random() * all.length)]
  }

  #owners(): Reference[] {
    const count = Math.floor(this.#random() * 3)
    return Array.from({ length: count }, () => this.#pick())
      .filter((owner) => owner !== undefined)
      .filter((owner, at, all) => all.indexOf(owner) === at)
      .map(({ name, uid }) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name,
        uid,
        blockOwnerDeletion: this.#random() < 0.5,
      }))
  }

  async #once(): Promise<void> {
    const dice = this.#random()
    const object = this.#pick()
    if (object === undefined || (dice < 0.5 && this.#judge.live.size < OBJECTS)) {
      const metadata = { name: `o${Math.floor(this.#random() * 4 * OBJECTS)}`, ownerReferences: this.#owners() }
      await this.#send('POST', path, { metadata })
    } else if (dice < 0.75) {
      const body = { metadata: { uid: object.uid, ownerReferences: this.#owners() } }
      await this.#send('PATCH', `${path}/${object.name}`, body, 'application/merge-patch+json')
    } else {
      const policy = ['Background', 'Foreground', 'Orphan'][Math.floor(this.#random() * 3)]
      await this.#delete(object.name, policy ?? '')
    }
  }

  /** Another object may have the name by then: the answer says which one was deleted. */
  async #delete(name: string, policy: string): Promise<void> {
    try {
      const answer = await this.#client.ask({ method: 'DELETE', path: `${path}/${name}?propagationPolicy=${policy}` })
      const { details, metadata } = JSON.parse(answer.toString())
      this.#judge.asked.add(details?.uid ?? metadata?.uid)
    } catch (error) {
      if (!/: 404 /.test(String(error))) this.#judge.askedNames.add(name)
      throw error
    }
  }

  async #send(method: string, to: string, body: object, type = 'application/json'): Promise<void> {
    await this.#client.ask({ method, path: to, headers: { 'content-type': type }, body: JSON.stringify(body) })
  }
}

const clientOf = (server: ApiServerProcess): Http2Client =>
  new Http2Client({ name: 'keelson', server: server.url, token: server.token })

/** How long it takes until an object with an absent owner is gone. */
async function msUntilCollected(client: Http2Client, judge: Judge, name: string): Promise<number> {
  const began = performance.now()
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'never' }
  const body = JSON.stringify({ metadata: { name, ownerReferences: [owner] } })
  await client.ask({ method: 'POST', path, headers: { 'content-type': 'application/json' }, body })
  const isThere = (): boolean => [...judge.live.values()].some((one) => one.name === name)
  while (!isThere() && performance.now() - began < 1_000) await sleep(10)
  while (isThere() && performance.now() - began < 3 * TAKE_OVER_MS_MAX) await sleep(20)
  return performance.now() - began
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: '1' } },
  })
  const random = randomOf(Number(values.seed))
  await using etcd = await startEtcd()
  const start = (...args: string[]): Promise<ApiServerProcess> => startKeelson({ etcdUrl: etcd.clientUrl, args })
  await using observer = await start()
  await using one = await start('--controllers=*')
  await using two = await start('--controllers=*')
  using client = clientOf(observer)
  using watching = clientOf(observer)
  const judge = new Judge()
  await watching.watch({ path: `${path}?watch=true` }, (piece) => judge.take(piece))
  const stopping = new AbortController()
  const loads = Array.from({ length: AT_ONCE }, () => new Load(client, judge, random))
  const running = loads.map((load) => load.run(stopping.signal))
  const endMs = performance.now() + 60_000 * Number(values.minutes)
  const faults: string[] = []
  let longestMs = 0
  let kills = 0
  while (performance.now() < endMs) {
    const victim = kills % 2 === 0 ? one : two
    kills++
    const restarted = victim.restart('SIGKILL')
    const ms = await msUntilCollected(client, judge, `canary${kills}`)
    longestMs = Math.max(longestMs, ms)
    console.log(`kill ${kills}: work went on after ${Math.round(ms)} ms`)
    if (ms > TAKE_OVER_MS_MAX) faults.push(`after kill ${kills} work went on only after ${Math.round(ms)} ms`)
    await restarted
    await sleep(Math.max(0, KILL_EVERY_MS - ms))
    if (kills % 3 === 0) {
      etcd.pause()
      await sleep(2_000)
      etcd.resume()
    }
  }
  stopping.abort()
  await Promise.all(running)
  const quietMs = performance.now() + QUIET_MS_MAX
  while (judge.garbage().length > 0 && performance.now() < quietMs) await sleep(200)
  for (const name of judge.garbage()) faults.push(`${name} is garbage and stays`)
  faults.push(...judge.faults())
  for (const fault of faults) console.log(`FAULT ${fault}`)
  const operations = loads.reduce((sum, load) => sum + load.operations, 0)
  console.log(
    `seed ${values.seed}: ${operations} operations, ${judge.collected} collected, ${kills} kills, work went on after ${Math.round(longestMs)} ms at the latest, ${faults.length} faults`,
  )
  return faults.length === 0 ? 0 : 1
}

process.exitCode = await main()
