/**
 * Simulates the garbage collector in virtual time. Two replicas use a database in memory. Clients
 * create objects with owners, change the owners, and delete objects with all three propagation
 * policies. The garbage collector runs on one replica after the other, sometimes briefly on both.
 * Every commit is checked: no object may be deleted while a live owner still owns it. At the end,
 * no garbage may be left, and no object may wait for deletion.
 */
import type { KubeObject } from '../../../../src/api/object.ts'
import { request } from '../../../../src/api/own-request.ts'
import { GarbageCollector } from '../../../../src/controllers/garbage-collector/garbage-collector.ts'
import { FEW_OWNERS_MAX } from '../../../../src/controllers/garbage-collector/graph.ts'
import { QueueMetrics } from '../../../../src/lib/telemetry/queue-metrics.ts'
import { Metrics } from '../../../../src/lib/telemetry/metrics.ts'
import { sleep } from '../../../../src/lib/time/timers.ts'
import { Registry } from '../../../../src/registry/registry.ts'
import { StorageError } from '../../../../src/storage/errors.ts'
import type { Commit } from '../../../../src/storage/local-feed-stream.ts'
import { MemoryEngine } from '../../../../src/storage/memory/memory-engine.ts'
import { JsonControlPlane } from '../../../support/harness/json-control-plane.ts'
import { builtIn } from '../../../support/harness/memory-control-plane.ts'
import { Random } from '../random.ts'
import { readJson } from './json-objects.ts'
import { isWaiting, type Owner, ownersOf } from './owners.ts'
import { chooseSettings, type Settings } from './settings.ts'
import { SimReplica } from './sim-replica.ts'
import { VirtualTime } from './virtual-time.ts'

const resources = [builtIn('configmaps'), builtIn('secrets')]
const folders = /^\/registry\/(configmaps|secrets)\//

const ACT_MS = 12_000
/** Time within which all garbage must be gone. */
const SETTLED_MS_MAX = 60_000
const CLIENTS = 3
const NAMES = 12

const policies = ['Background', 'Foreground', 'Orphan'] as const

export class GarbageSimulation {
  readonly time: VirtualTime
  readonly #random: Random
  readonly #jitter: Random
  readonly #settings: Settings
  readonly #engine: MemoryEngine
  readonly #replicas: readonly SimReplica[]
  readonly #planes: readonly JsonControlPlane[]
  readonly #registry = new Registry(resources)
  readonly #judge: Judge
  /** Running garbage collectors. The keys are the indexes of their replicas. */
  readonly #collectors = new Map<number, GarbageCollector>()
  readonly #stopping = new AbortController()
  /** Fraction of the objects with owners that get many additional owners. */
  readonly #manyShare: number
  #uids = 0

  constructor(seed: number, onLine?: (line: string) => void) {
    this.#random = new Random(Math.imul(seed + 1, 0x9e3779b1))
    this.#jitter = this.#random.fork('jitter')
    const settings = chooseSettings(this.#random.fork('settings'))
    this.#settings = settings
    this.#manyShare = this.#random.fork('many').pick([0, 0.1, 0.9])
    const time = new VirtualTime(this.#random.fork('time'), onLine)
    this.time = time
    this.#judge = new Judge(time)
    const engine = new MemoryEngine({ time, onCommit: (commit) => this.#judge.onCommit(commit) })
    this.#engine = engine
    this.#replicas = ['a', 'b'].map(
      (name) =>
        new SimReplica({
          name,
          engine,
          time,
          random: this.#random.fork(name),
          settings,
          log: this.#log,
        }),
    )
    const now = (): string => new Date(time.wallMs()).toISOString()
    this.#planes = this.#replicas.map(
      ({ cache, store }) => new JsonControlPlane({ cache, store, registry: this.#registry, now }),
    )
  }

  /** Runs the simulation and returns all faults. */
  async run(): Promise<string[]> {
    const { time } = this
    for (const { cache } of this.#replicas) await this.#started(cache)
    const clients = Array.from({ length: CLIENTS }, (_, at) =>
      this.#client(this.#random.fork(`client${at}`)),
    )
    const running = [
      ...clients,
      this.#lead(this.#random.fork('leader')),
      this.#disturb(this.#random.fork('faults')),
    ]
    await sleep(time, ACT_MS)
    this.#stopping.abort()
    await Promise.all(running)
    for (const { engine } of this.#replicas) {
      engine.weather = 'well'
      engine.cutShare = 0
    }
    if (this.#collectors.size === 0) this.#start(0)
    const untilMs = time.nowMs + SETTLED_MS_MAX
    while (this.#judge.left().length > 0 && time.nowMs < untilMs) await sleep(time, 100)
    const faults = [...this.#judge.faults, ...this.#judge.left()]
    if (faults.length > 0)
      for (const [key, { metadata }] of this.#judge.live)
        time.note(`left ${key} ${JSON.stringify(metadata)}`)
    for (const at of [...this.#collectors.keys()]) await this.#stop(at)
    for (const replica of this.#replicas) await replica[Symbol.asyncDispose]()
    await this.#engine[Symbol.asyncDispose]()
    return faults
  }

  get collected(): number {
    return this.#judge.collected
  }

  readonly #log = (level: string, message: string, fields?: object): void =>
    this.time.note(`${level} ${message} ${JSON.stringify(fields)}`)

  async #started(cache: SimReplica['cache']): Promise<void> {
    for (;;) {
      try {
        return await cache.start()
      } catch {
        await sleep(this.time, 100)
      }
    }
  }

  #start(at: number): void {
    const plane = this.#planes[at]
    if (plane === undefined || this.#collectors.has(at)) return
    const { time } = this
    const { handle, accessOf } = plane
    const metrics = new QueueMetrics(new Metrics())
    const random = (): number => this.#jitter.next()
    const parts = {
      handle,
      accessOf,
      registry: this.#registry,
      metrics,
      clock: time,
      log: this.#log,
      time,
      random,
    }
    this.#collectors.set(at, new GarbageCollector(parts))
    time.note(`leads ${at}`)
  }

  async #stop(at: number): Promise<void> {
    const collector = this.#collectors.get(at)
    this.#collectors.delete(at)
    await collector?.[Symbol.asyncDispose]()
  }

  /**
   * Moves the garbage collector between replicas. The next collector can start before the previous
   * one has stopped.
   */
  async #lead(random: Random): Promise<void> {
    let leader = 0
    this.#start(leader)
    while (!this.#stopping.signal.aborted) {
      await sleep(this.time, random.next() * 4_000)
      const next = random.pick([0, 1])
      const ending = leader === next ? Promise.resolve() : this.#stop(leader)
      if (random.chance(0.7)) await ending
      this.#start(next)
      await ending
      leader = next
    }
  }

  async #disturb(random: Random): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await sleep(this.time, random.next() * this.#settings.calmMs)
      const { engine } = random.pick(this.#replicas)
      const choice = random.next()
      if (choice < 0.4) engine.cut()
      else if (choice < 0.6) this.#compact(random.between(0, 5))
      else {
        engine.weather = random.pick(['down', 'hung', 'leaderless', 'stale'])
        await sleep(this.time, random.next() * 1_500)
        engine.weather = 'well'
      }
    }
  }

  #compact(kept: number): void {
    try {
      this.#engine.compact(this.#engine.stats().revision - kept)
    } catch {
      // The compaction failed because a later revision has already been compacted.
    }
  }

  async #client(random: Random): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#act(random)
      } catch (error) {
        // A StorageError is expected: the object already exists, or the database is unreachable.
        if (!(error instanceof StorageError)) throw error
      }
      await sleep(this.time, random.next() * this.#settings.thinkMs)
    }
  }

  async #act(random: Random): Promise<void> {
    const plane = random.pick(this.#planes)
    const live = [...this.#judge.live.values()]
    const object = live.length === 0 ? undefined : random.pick(live)
    const choice = random.next()
    if (object === undefined || choice < 0.5) {
      const resource = random.pick(resources)
      const metadata = {
        name: `o${random.between(1, NAMES)}`,
        namespace: 'n',
        uid: `uid-${++this.#uids}`,
      }
      const ownerReferences = this.#owners(random)
      const { kind } = resource
      await plane.create(resource, {
        apiVersion: 'v1',
        kind,
        metadata: { ...metadata, ownerReferences },
      })
      return
    }
    const { signal } = new AbortController()
    const { kind, metadata } = object
    const { uid = '' } = metadata
    const path = `/api/v1/namespaces/n/${kind.toLowerCase()}s/${metadata.name}`
    if (choice < 0.75) {
      const body = { metadata: { uid, ownerReferences: this.#owners(random) } }
      await request(plane.handle, { method: 'PATCH', path, body, isMergePatch: true, signal })
    } else {
      this.#judge.asked.add(uid)
      const body = { preconditions: { uid }, propagationPolicy: random.pick(policies) }
      await request(plane.handle, { method: 'DELETE', path, body, signal })
    }
  }

  #owners(random: Random) {
    const live = [...this.#judge.live.values()]
    const chosen = new Set(
      Array.from({ length: live.length === 0 ? 0 : random.between(0, 2) }, () => random.pick(live)),
    )
    const owners = Array.from(chosen, ({ kind, metadata: { name = '', uid = '' } }) => ({
      apiVersion: 'v1',
      kind,
      name,
      uid,
      blockOwnerDeletion: random.chance(0.5),
    }))
    if (owners.length === 0 || !random.chance(this.#manyShare)) return owners
    // Add many owners that do not exist, because the garbage collector uses different code for
    // objects with many owners. It then processes the owners in several slices and compares them by
    // a digest.
    const absent = Array.from(
      { length: random.between(FEW_OWNERS_MAX - 2, FEW_OWNERS_MAX + 2) },
      (_, at) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: `absent${at}`,
        uid: `absent-${at}`,
        blockOwnerDeletion: false,
      }),
    )
    return random.chance(0.5) ? [...absent, ...owners] : [...owners, ...absent]
  }
}

/** Tracks all objects in the database by key, and records faults in their changes. */
class Judge {
  readonly live = new Map<string, KubeObject>()
  /** UIDs of objects that a client has deleted. */
  readonly asked = new Set<string>()
  readonly faults: string[] = []
  collected = 0
  /** UIDs of objects that are or were waiting for the deletion of their dependents. */
  readonly #waited = new Set<string>()
  readonly #time: VirtualTime

  constructor(time: VirtualTime) {
    this.#time = time
  }

  onCommit({ events }: Commit): void {
    for (const { key, type, value, revision } of events) {
      if (!folders.test(key)) continue
      const before = this.live.get(key)
      const after = type === 'delete' ? undefined : readJson(value, revision)
      const isDecided = before?.metadata.deletionTimestamp !== undefined
      if (before !== undefined && !isDecided && isGoing(after)) this.#deleted(key, before)
      if (after === undefined) this.live.delete(key)
      else this.live.set(key, after)
      if (after !== undefined && isWaiting(after)) this.#waited.add(after.metadata.uid ?? '')
    }
  }

  #deleted(key: string, object: KubeObject): void {
    this.#time.note(`deleted ${key} ${object.metadata.uid}`)
    if (this.asked.has(object.metadata.uid ?? '')) return
    this.collected++
    const owners = ownersOf(object)
    if (owners.length === 0) this.faults.push(`${key} was deleted without an owner`)
    for (const owner of owners) {
      const found = this.#find(owner)
      // Ignore owners that have ever waited for their dependents. They may have been waiting when
      // the garbage collector decided to delete this object, so the deletion may be correct.
      if (found === undefined || this.#waited.has(owner.uid)) continue
      this.faults.push(`${key} was deleted, but its owner ${owner.kind} ${owner.name} existed`)
    }
  }

  /**
   * Returns a fault for each object that should no longer exist, because it is garbage or is marked
   * for deletion.
   */
  left(): string[] {
    return Array.from(this.live, ([key, object]) => {
      if (object.metadata.deletionTimestamp !== undefined) {
        return this.#waitsForWaiting(object) ? [] : [`${key} is never deleted`]
      }
      const owners = ownersOf(object)
      const isGarbage =
        owners.length > 0 && owners.every((owner) => this.#find(owner) === undefined)
      return isGarbage ? [`${key} is garbage and was not collected`] : []
    }).flat()
  }

  /**
   * Whether the deletion of an object is blocked by a dependent that is itself waiting for its
   * dependents. Objects that block each other in this way are never deleted, as in
   * kube-controller-manager.
   */
  #waitsForWaiting(object: KubeObject): boolean {
    if (!isWaiting(object)) return false
    return [...this.live.values()].some(
      (one) =>
        isWaiting(one) &&
        ownersOf(one).some(({ uid, blocks }) => blocks && uid === object.metadata.uid),
    )
  }

  #find({ kind, name, uid }: Owner): KubeObject | undefined {
    const object = this.live.get(`/registry/${kind.toLowerCase()}s/n/${name}`)
    return object?.metadata.uid === uid ? object : undefined
  }
}

const isGoing = (object: KubeObject | undefined): boolean =>
  object?.metadata.deletionTimestamp !== undefined || object === undefined
