/**
 * Simulates one process whose database is restored to earlier states while it runs, as in
 * keelson/testing. The garbage collector and the namespace controller run. Clients create objects
 * with slow admission, change owners, and delete objects and namespaces. Every commit is checked:
 *
 * - A controller must not delete a restored object because of a decision from before the restore.
 * - No event changes the UID of an object.
 * - No object is stored in a deleted namespace.
 * - When a restore returns, all informers have the restored state.
 */
import type { KubeObject } from '../../../../src/api/object.ts'
import { request } from '../../../../src/api/own-request.ts'
import { Informer } from '../../../../src/storage/cache/informer.ts'
import { GarbageCollector } from '../../../../src/controllers/garbage-collector/garbage-collector.ts'
import { NamespaceController } from '../../../../src/controllers/namespace/namespace-controller.ts'
import { QueueMetrics } from '../../../../src/lib/telemetry/queue-metrics.ts'
import { Metrics } from '../../../../src/lib/telemetry/metrics.ts'
import { Restores } from '../../../../src/lib/concurrency/restores.ts'
import { sleep } from '../../../../src/lib/time/timers.ts'
import { Registry } from '../../../../src/registry/registry.ts'
import { type Parent, ParentStates } from '../../../../src/request/parents.ts'
import { StorageError } from '../../../../src/storage/errors.ts'
import type { Commit } from '../../../../src/storage/local-feed-stream.ts'
import { type EngineState, MemoryEngine } from '../../../../src/storage/memory/memory-engine.ts'
import { FencedEngine } from '../../../../src/entry/testing/fenced-engine.ts'
import { isSameObject } from '../../../../src/entry/testing/snapshot.ts'
import { JsonControlPlane } from '../../../support/harness/json-control-plane.ts'
import { builtIn } from '../../../support/harness/memory-control-plane.ts'
import { Random } from '../random.ts'
import { changeJson, readJson } from './json-objects.ts'
import { isWaiting, ownersOf } from './owners.ts'
import { chooseSettings, type Settings } from './settings.ts'
import { SimReplica } from './sim-replica.ts'
import { VirtualTime } from './virtual-time.ts'

const namespaces = builtIn('namespaces')
const [configMaps, secrets] = [builtIn('configmaps'), builtIn('secrets')]
const folders = /^\/registry\/(configmaps|secrets|namespaces)\//

const ACT_MS = 20_000
/** Time within which all deletions must be complete. */
const SETTLED_MS_MAX = 120_000
const CLIENTS = 4
const NAMES = 8
/**
 * Maximum duration of admission in ms. A controller that waited for a fixed time before it deletes
 * a namespace would wait less than this.
 */
const ADMISSION_MS_MAX = 4_000

const policies = ['Background', 'Foreground', 'Orphan'] as const

export class RestoreSimulation {
  readonly time: VirtualTime
  readonly #random: Random
  readonly #settings: Settings
  readonly #engine: MemoryEngine
  readonly #restores: Restores
  readonly #replica: SimReplica
  readonly #plane: JsonControlPlane
  readonly #registry = new Registry([namespaces, configMaps, secrets])
  readonly #namespaceStates = new ParentStates((namespace) =>
    isEnding(namespace) ? 'none' : 'all',
  )
  readonly #judge: RestoreJudge
  readonly #stopping = new AbortController()
  /** State of an informer: UIDs of ConfigMaps by key. */
  readonly #followed = new Map<string, string>()
  #uids = 0

  constructor(seed: number, onLine?: (line: string) => void) {
    this.#random = new Random(Math.imul(seed + 1, 0x9e3779b1))
    const settings = { ...chooseSettings(this.#random.fork('settings')), cutShare: 0 }
    this.#settings = settings
    const time = new VirtualTime(this.#random.fork('time'), onLine)
    this.time = time
    this.#judge = new RestoreJudge(time)
    this.#engine = new MemoryEngine({ time, onCommit: (commit) => this.#judge.onCommit(commit) })
    this.#restores = new Restores(time)
    const engine = new FencedEngine(this.#engine, this.#restores)
    const log = this.#log
    this.#replica = new SimReplica({
      name: 'a',
      engine,
      time,
      random: this.#random.fork('a'),
      settings,
      log,
    })
    const { cache, store } = this.#replica
    this.#plane = new JsonControlPlane({ cache, store, registry: this.#registry, now: this.#now })
  }

  /** Runs the simulation and returns all faults. */
  run(): Promise<string[]> {
    return this.#restores.within(() => this.#run())
  }

  async #run(): Promise<string[]> {
    const { time } = this
    await this.#replica.cache.start()
    const parts = this.#startControllers()
    const clients = Array.from({ length: CLIENTS }, (_, at) =>
      this.#client(this.#random.fork(`client${at}`)),
    )
    const running = [...clients, this.#restoring(this.#random.fork('restores'))]
    await sleep(time, ACT_MS)
    this.#stopping.abort()
    await Promise.all(running)
    const untilMs = time.nowMs + SETTLED_MS_MAX
    while (this.#judge.left().length > 0 && time.nowMs < untilMs) await sleep(time, 100)
    const faults = [...this.#judge.faults, ...this.#judge.left()]
    if (faults.length > 0)
      for (const [key, { metadata }] of this.#judge.live)
        time.note(`left ${key} ${JSON.stringify(metadata)}`)
    for (const part of parts) await part[Symbol.asyncDispose]()
    await this.#replica[Symbol.asyncDispose]()
    await this.#engine[Symbol.asyncDispose]()
    return faults
  }

  readonly #log = (level: string, message: string, fields?: object): void =>
    this.time.note(`${level} ${message} ${JSON.stringify(fields)}`)

  readonly #now = (): string => new Date(this.time.wallMs()).toISOString()

  #startControllers(): AsyncDisposable[] {
    const { time } = this
    const { handle, accessOf } = this.#plane
    const jitter = this.#random.fork('jitter')
    const gates = { release: 33, isOn: () => true }
    const metrics = new QueueMetrics(new Metrics())
    const common = {
      handle,
      accessOf,
      registry: this.#registry,
      metrics,
      clock: time,
      log: this.#log,
      time,
    }
    const { keys, reader } = accessOf(configMaps)
    const followed = new Informer<string>({
      name: 'configmaps',
      reader,
      range: keys.range(),
      read: (item) => item.peek().metadata.uid ?? '',
      set: (key, uid) =>
        void (uid === undefined ? this.#followed.delete(key) : this.#followed.set(key, uid)),
      known: () => this.#followed.keys(),
      log: this.#log,
      time,
    })
    void followed.start()
    return [
      new GarbageCollector({ ...common, random: () => jitter.next() }),
      new NamespaceController({ ...common, gates, hasReplicas: false }),
      followed,
    ]
  }

  async #restoring(random: Random): Promise<void> {
    const states: {
      readonly state: EngineState
      readonly live: ReadonlyMap<string, KubeObject>
    }[] = []
    while (!this.#stopping.signal.aborted) {
      await sleep(this.time, random.next() * 1_500)
      if (states.length < 2 || random.chance(0.4)) {
        states.push({ state: this.#engine.state(), live: new Map(this.#judge.live) })
        continue
      }
      const { state, live } = random.pick(states.slice(-4))
      this.time.note('restore')
      const rewind = (): void => this.#engine.rewind(state, { isKept: () => false, isSameObject })
      await this.#restores.restore(() => this.#judge.restoring(rewind))
      this.#judge.restored(live, this.#followed)
    }
  }

  async #client(random: Random): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#restores.begin(() => this.#act(random))
      } catch (error) {
        // A StorageError is expected: the object already exists, or the operation began before a
        // restore.
        if (!(error instanceof StorageError)) throw error
      }
      await sleep(this.time, random.next() * this.#settings.thinkMs)
    }
  }

  async #act(random: Random): Promise<void> {
    const namespace = `n${random.between(1, 3)}`
    const choice = random.next()
    if (choice < 0.1) await this.#createNamespace(namespace)
    else if (choice < 0.16) await this.#deleteNamespace(namespace)
    else if (choice < 0.6) await this.#create(namespace, random)
    else await this.#change(random)
  }

  async #createNamespace(name: string): Promise<void> {
    const metadata = { name, uid: `uid-${++this.#uids}` }
    await this.#plane.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata,
      spec: { finalizers: ['kubernetes'] },
    })
  }

  async #deleteNamespace(name: string): Promise<void> {
    const { keys, reader } = this.#plane.accessOf(namespaces)
    await changeJson(
      { store: this.#replica.store, reader },
      keys.key(undefined, name),
      (object) => {
        if (object.metadata.deletionTimestamp !== undefined) return undefined
        return { ...object, metadata: { ...object.metadata, deletionTimestamp: this.#now() } }
      },
    )
  }

  /**
   * Creates an object as a server with the NamespaceLifecycle plugin does
   * (request/verbs/write/create-object.ts).
   */
  async #create(namespace: string, random: Random): Promise<void> {
    const { keys, reader } = this.#plane.accessOf(namespaces)
    const key = keys.key(undefined, namespace)
    const { item } = await reader.get(key, 'any')
    if (item === undefined || isEnding(item.peek())) return
    if (random.chance(0.3)) await sleep(this.time, random.next() * ADMISSION_MS_MAX)
    const resource = random.pick([configMaps, secrets])
    const name = `o${random.between(1, NAMES)}`
    const metadata = {
      name,
      namespace,
      uid: `uid-${++this.#uids}`,
      ownerReferences: this.#owners(namespace, random),
    }
    await this.#plane.create(resource, { apiVersion: 'v1', kind: resource.kind, metadata }, [
      { key, reader, states: this.#namespaceStates, isComparable: true, check: checkNamespace },
    ])
  }

  async #change(random: Random): Promise<void> {
    const live = this.#judge.objects()
    if (live.length === 0) return
    const { kind, metadata } = random.pick(live)
    const { uid = '', namespace = '' } = metadata
    const { signal } = new AbortController()
    const path = `/api/v1/namespaces/${namespace}/${kind.toLowerCase()}s/${metadata.name}`
    if (random.chance(0.5)) {
      const body = { metadata: { uid, ownerReferences: this.#owners(namespace, random) } }
      await request(this.#plane.handle, { method: 'PATCH', path, body, isMergePatch: true, signal })
    } else {
      this.#judge.asked.add(uid)
      const body = { preconditions: { uid }, propagationPolicy: random.pick(policies) }
      await request(this.#plane.handle, { method: 'DELETE', path, body, signal })
    }
  }

  #owners(namespace: string, random: Random) {
    const live = this.#judge.objects().filter(({ metadata }) => metadata.namespace === namespace)
    const count = live.length === 0 ? 0 : random.between(0, 2)
    const chosen = new Set(Array.from({ length: count }, () => random.pick(live)))
    return Array.from(chosen, ({ kind, metadata: { name = '', uid = '' } }) => ({
      apiVersion: 'v1',
      kind,
      name,
      uid,
      blockOwnerDeletion: random.chance(0.5),
    }))
  }
}

/** Tracks all objects in the database by key, and records faults in their changes. */
class RestoreJudge {
  readonly live = new Map<string, KubeObject>()
  /** UIDs of objects that a client has deleted since the last restore. */
  readonly asked = new Set<string>()
  readonly faults: string[] = []
  /**
   * UIDs of objects that are or were waiting for the deletion of their dependents since the last
   * restore.
   */
  readonly #waited = new Set<string>()
  readonly #time: VirtualTime
  #isRestoring = false

  constructor(time: VirtualTime) {
    this.#time = time
  }

  objects(): KubeObject[] {
    return [...this.live.values()].filter(({ kind }) => kind !== 'Namespace')
  }

  onCommit({ events }: Commit): void {
    for (const { key, type, value, revision, createRevision } of events) {
      if (!folders.test(key)) continue
      const before = this.live.get(key)
      const after = type === 'delete' ? undefined : readJson(value, revision)
      if (before !== undefined && after !== undefined && before.metadata.uid !== after.metadata.uid)
        this.#fault(`${key} was changed from ${before.metadata.uid} to ${after.metadata.uid}`)
      const isNew = after !== undefined && createRevision === revision && after.kind !== 'Namespace'
      if (!this.#isRestoring && isNew && this.#namespaceOf(after) === undefined)
        this.#fault(`${key} was stored in a namespace that is gone`)
      const isDecided = before?.metadata.deletionTimestamp !== undefined
      if (!this.#isRestoring && before !== undefined && !isDecided && isGoing(after))
        this.#deleted(key, before)
      if (after === undefined) this.live.delete(key)
      else this.live.set(key, after)
      if (after !== undefined && isWaiting(after)) this.#waited.add(after.metadata.uid ?? '')
    }
  }

  restoring(rewind: () => void): void {
    this.#isRestoring = true
    rewind()
    this.#isRestoring = false
    this.asked.clear()
    this.#waited.clear()
    for (const object of this.live.values())
      if (isWaiting(object)) this.#waited.add(object.metadata.uid ?? '')
  }

  /**
   * Checks the state of the database at the end of a restore. `wanted` is the expected state.
   * `followed` is the state of an informer of ConfigMaps, which must also be restored.
   */
  restored(wanted: ReadonlyMap<string, KubeObject>, followed: ReadonlyMap<string, string>): void {
    if (shown(this.live) !== shown(wanted)) this.#fault('a restore returned with another state')
    const configured = [...this.live].filter(([key]) => key.startsWith('/registry/configmaps/'))
    const isFollowed = configured.every(([key, { metadata }]) => followed.get(key) === metadata.uid)
    if (!isFollowed || followed.size !== configured.length)
      this.#fault('a restore returned before an informer had the restored state')
  }

  #deleted(key: string, object: KubeObject): void {
    this.#time.note(`deleted ${key} ${object.metadata.uid}`)
    if (object.kind === 'Namespace' || this.asked.has(object.metadata.uid ?? '')) return
    if (this.#namespaceOf(object)?.metadata.deletionTimestamp !== undefined) return
    const owners = ownersOf(object)
    if (owners.length === 0) this.#fault(`${key} was deleted without an owner`)
    for (const { kind, name, uid } of owners) {
      const found = this.live.get(
        `/registry/${kind.toLowerCase()}s/${object.metadata.namespace}/${name}`,
      )
      if (found?.metadata.uid !== uid || this.#waited.has(uid)) continue
      this.#fault(`${key} was deleted, but its owner ${kind} ${name} existed`)
    }
  }

  /** Returns a fault for each object that should no longer exist. */
  left(): string[] {
    return Array.from(this.live, ([key, object]) => {
      if (object.kind !== 'Namespace' && this.#namespaceOf(object) === undefined)
        return [`${key} has no namespace`]
      if (object.metadata.deletionTimestamp === undefined) return []
      return this.#blocks(object) ? [] : [`${key} is never deleted`]
    }).flat()
  }

  /**
   * Whether the object cannot be deleted because of objects that wait for their dependents. Such
   * objects wait forever if they block each other, as in kube-controller-manager. Their namespace
   * can then not be deleted either.
   */
  #blocks(object: KubeObject): boolean {
    const { uid, name } = object.metadata
    const waiting = this.objects().filter(isWaiting)
    if (object.kind === 'Namespace')
      return waiting.some(({ metadata }) => metadata.namespace === name)
    return (
      isWaiting(object) &&
      waiting.some((one) => ownersOf(one).some((owner) => owner.blocks && owner.uid === uid))
    )
  }

  #namespaceOf({ metadata }: KubeObject): KubeObject | undefined {
    return this.live.get(`/registry/namespaces/${metadata.namespace}`)
  }

  #fault(fault: string): void {
    this.#time.note(`FAULT ${fault}`)
    this.faults.push(fault)
  }
}

const isGoing = (object: KubeObject | undefined): boolean =>
  object?.metadata.deletionTimestamp !== undefined || object === undefined

const shown = (objects: Iterable<readonly [string, KubeObject]>): string =>
  Array.from(
    objects,
    ([key, { metadata }]) => `${key} ${metadata.uid} ${metadata.deletionTimestamp ?? ''}`,
  )
    .toSorted()
    .join('\n')

const isEnding = (object: KubeObject | undefined): boolean =>
  object?.metadata.deletionTimestamp !== undefined

const checkNamespace: Parent['check'] = (state) => {
  if (state?.creates !== 'all') throw new StorageError('missing', 'the namespace is being deleted')
}
