/**
 * The garbage-collector-controller. It deletes objects whose owners are all gone. If an owner is
 * deleted in the foreground, it deletes the dependents first. If an owner is deleted with the
 * policy Orphan, it removes the owner from the references of the dependents. The graph finds
 * suspects: objects that might have to be deleted. Each decision is based on the stored state of a
 * suspect, and each write fails if the object has changed since.
 */
import type { Handler } from '../../api/request.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import { systemTime, type Time } from '../../lib/time/timers.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ObjectHead } from '../object-head.ts'
import type { QueueMetrics } from '../../lib/telemetry/queue-metrics.ts'
import type { CacheAccessOf } from '../cache-access.ts'
import { onRegistryChange } from '../registry-changes.ts'
import type { RemoteApis } from '../remote/remote-content.ts'
import { isRemoteKey } from '../remote/remote-keys.ts'
import { RemoteKinds } from '../remote/remote-kinds.ts'
import { RemoteAway } from '../remote/remote-objects.ts'
import { WorkQueue } from '../../lib/concurrency/work-queue.ts'
import { type Outcome, requireChange } from '../write-outcome.ts'
import { type ClassifiedOwners, classify, type Classifying } from './classify.ts'
import { SourcesInformer } from './sources-informer.ts'
import { foregroundFinalizer, Graph, type Key, orphanFinalizer } from './graph.ts'
import { isInOtherNamespace, reportInvalidNamespace } from './invalid-namespace.ts'
import type { SourceObject, Source } from './source.ts'
import { Sources } from './sources.ts'
import { type ObjectRevision, Writes } from './writes.ts'

/** Number of workers of each queue, as in kube-controller-manager. */
const WORKERS_MAX = 20
/** Maximum number of dependents of one owner that are orphaned concurrently. */
const ORPHANS_MAX = 16
/**
 * Maximum number of dependents on remote servers that are orphaned concurrently. It is lower than
 * the number of concurrent calls (remote-objects.ts), because calls beyond that number fail.
 */
const REMOTE_ORPHANS_MAX = 4
/** Delay before an object is checked again because another client has changed it. */
const CHANGED_MS = 10
/**
 * Maximum number of missing owners of an object that are searched in other namespaces, to report an
 * invalid reference before the object is deleted. Each search iterates over all objects of a kind.
 */
const STRANGERS_MAX = 20
/**
 * First and maximum delay until an object is checked again, if its owner exists but is not in the
 * graph yet. No event reports the deletion of an owner that was never listed. The object is also
 * checked when the list is complete, but an owner might be created and deleted between two lists.
 * The delay doubles, because each check may read from the database.
 */
const UNSEEN_MS_FIRST = 1_000
const UNSEEN_MS_MAX = 60_000

/** An object with owners that are not in the graph yet. */
type UnresolvedObject = {
  /** How often the object was checked so far. */
  readonly looks: number
  /** The key prefixes of the resources that the object's owners belong to. */
  readonly prefixes: ReadonlySet<Key>
}

export type GarbageCollectorOptions = {
  readonly handle: Handler
  readonly registry: Registry
  readonly accessOf: CacheAccessOf
  readonly metrics: QueueMetrics
  readonly clock: Clock
  readonly log: Log
  readonly time?: Time
  /** Returns a number from 0 to 1, for the jitter of delays. */
  readonly random?: () => number
  /** Remote API servers, if any. */
  readonly remote?: RemoteApis | undefined
}

export class GarbageCollector implements AsyncDisposable {
  readonly graph: Graph
  readonly #options: GarbageCollectorOptions
  readonly #stopping = new AbortController()
  readonly #writes: Writes
  readonly #informer: SourcesInformer
  readonly #deletions: WorkQueue
  readonly #orphanings: WorkQueue
  readonly #registryChanges: Disposable
  readonly #remoteKinds: RemoteKinds | undefined
  #sources: Sources
  /** Suspects that wait until all resources have been listed once. Undefined afterwards. */
  #early: Set<Key> | undefined = new Set()
  /**
   * Objects with an owner whose kind is not served. They are checked again when kinds are added.
   */
  readonly #unmapped = new Set<Key>()
  readonly #unseen = new Map<Key, UnresolvedObject>()
  /** Number of calls of `#suspectInSlices` that have not ended. */
  #suspecting = 0

  constructor(options: GarbageCollectorOptions) {
    const { handle, registry, accessOf, metrics, clock, log, time = systemTime, remote } = options
    this.#options = options
    this.#writes = new Writes(handle, this.#stopping.signal)
    const { signal } = this.#stopping
    this.#remoteKinds =
      remote &&
      new RemoteKinds({
        apis: remote,
        verbs: ['delete', 'list', 'watch'],
        handle,
        signal,
        log,
        time,
      })
    this.#sources = new Sources({
      registry,
      accessOf,
      remote: this.#remoteKinds?.refresh() ?? nothingRemote,
    })
    this.graph = new Graph({
      keyOf: (reference, key) => {
        const led = this.#sources.resolveOwner(reference, key)
        return typeof led === 'string' ? undefined : led.key
      },
      find: (key, uid) => this.#find(key, uid),
      onSuspect: (key) => this.#suspect(key),
      onSuspects: (keys) => void this.#suspectInSlices(keys),
      onOrphaning: (key) => this.#orphanings.add(key),
    })
    const queue = (
      name: string,
      as: string,
      work: (key: Key) => Promise<number | undefined>,
    ): WorkQueue => {
      const measured = { metrics, as: `garbage_collector_${as}`, monotonicMs: clock.monotonicMs }
      return new WorkQueue({ name, workersMax: WORKERS_MAX, work, log, timers: time, measured })
    }
    this.#deletions = queue('garbage collection', 'attempt_to_delete', (key) =>
      this.#attemptToDelete(key),
    )
    this.#orphanings = queue('the orphaning of dependents', 'attempt_to_orphan', (key) =>
      this.#attemptToOrphan(key),
    )
    this.#informer = new SourcesInformer(this.graph, {
      onGone: (key) => this.#onGone(key),
      onListed: (prefix) => void this.#onListed(prefix),
      log,
      time,
    })
    this.#registryChanges = onRegistryChange(
      { onChange: (changed) => changesOf([registry, remote], changed) },
      () => this.#onKinds(),
      time,
    )
    void this.#start()
  }

  /** Whether the graph contains all objects that existed when the collector started. */
  get isFilled(): boolean {
    return this.#early === undefined
  }

  /**
   * The number of suspects and orphaning owners that are queued or being processed, plus the calls
   * of `#suspectInSlices` that are adding suspects.
   */
  get pending(): number {
    return this.#deletions.size + this.#orphanings.size + this.#suspecting
  }

  /** Number of objects that wait until the kind of an owner is served. */
  get unmapped(): number {
    return this.#unmapped.size
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    this.#registryChanges[Symbol.dispose]()
    const queues = [this.#deletions, this.#orphanings]
    await Promise.all([this.#informer, ...queues].map((one) => one[Symbol.asyncDispose]()))
  }

  /** Fills the graph and then queues the first suspects. Never rejects. */
  async #start(): Promise<void> {
    await this.#informer.follow(this.#sources)
    const early = this.#early ?? []
    this.#early = undefined
    const slices = new Slices(this.#options.time)
    for (const key of early) {
      this.#deletions.add(key)
      if (slices.isOver) await slices.turn()
    }
  }

  /** Called when definitions or remote servers are added or removed. */
  #onKinds(): void {
    const { registry, accessOf } = this.#options
    const before = this.#sources
    const remote = this.#remoteKinds?.refresh() ?? nothingRemote
    this.#sources = new Sources({ registry, accessOf, remote, before })
    void this.#informer.follow(this.#sources)
    for (const [prefix, source] of before.all())
      if (!this.#sources.all().has(prefix)) void this.#forgetKind(source)
    const unmapped = [...this.#unmapped]
    this.#unmapped.clear()
    void this.#suspectInSlices(unmapped)
  }

  /**
   * Handles a kind that is no longer served. If its definition was deleted, all of its objects were
   * deleted as well, but the last events may not have arrived yet. If the definition still exists,
   * its objects also exist. The objects of a remote server that was removed are removed from the
   * graph, so that no owner waits for them. Never rejects.
   */
  async #forgetKind({
    resource: { group, plural },
    keys: { prefix },
    remote,
  }: Source): Promise<void> {
    const { registry, accessOf, log } = this.#options
    if (remote !== undefined) return this.#forgetObjects(prefix)
    const crds = registry.find({
      group: 'apiextensions.k8s.io',
      version: 'v1',
      plural: 'customresourcedefinitions',
    })
    if (crds === undefined) return
    try {
      const { keys, reader } = accessOf(crds)
      const { item } = await reader.get(keys.key(undefined, `${plural}.${group}`), 'latest')
      if (item === undefined) await this.#forgetObjects(prefix)
    } catch (error) {
      log('warn', 'failed to update the owner graph for a deleted CustomResourceDefinition', {
        prefix,
        error: String(error),
      })
    }
  }

  async #forgetObjects(prefix: Key): Promise<void> {
    const slices = new Slices(this.#options.time)
    for (const key of [...this.graph.keys()]) {
      if (slices.isOver) await slices.turn()
      // Stop if the resource is served again in the meantime.
      if (this.#sources.all().has(prefix)) return
      if (!key.startsWith(prefix)) continue
      this.graph.set(key, undefined)
      this.#onGone(key)
    }
  }

  #find(key: Key, uid: string): Key | undefined {
    const found = this.#known(key)
    if (found === undefined) return undefined
    const owner = found.ownerHead()
    return owner === undefined || owner.uid === uid ? found.key : undefined
  }

  /** Returns the object with this key as it is in memory, or undefined if it is not in memory. */
  #known(key: Key): SourceObject | undefined {
    const found = this.#sources.at(key)?.known(key)
    return found === 'unknown' ? undefined : found
  }

  #onGone(key: Key): void {
    this.#early?.delete(key)
    this.#unmapped.delete(key)
    this.#unseen.delete(key)
  }

  /**
   * Called when all objects of a resource have been listed. Checks the objects in `#unseen` that
   * have an owner of this resource. Never rejects.
   */
  async #onListed(prefix: Key): Promise<void> {
    const slices = new Slices(this.#options.time)
    // Iterate over a copy. The check adds an object again if it also waits for another owner, so
    // the loop might otherwise never end.
    for (const key of [...this.#unseen.keys()]) {
      if (this.#unseen.get(key)?.prefixes.has(prefix) === true) this.#deletions.add(key)
      if (slices.isOver) await slices.turn()
    }
  }

  #suspect(key: Key): void {
    if (this.#early === undefined) this.#deletions.add(key)
    else this.#early.add(key)
  }

  /** Adds objects to the suspects, which can be hundreds of thousands. Never rejects. */
  async #suspectInSlices(keys: Iterable<Key>): Promise<void> {
    const slices = new Slices(this.#options.time, { isBackground: true })
    this.#suspecting++
    for (const key of keys) {
      if (this.#stopping.signal.aborted) break
      this.#suspect(key)
      if (slices.isOver) await slices.turn()
    }
    this.#suspecting--
  }

  /** Processes a suspect. Returns a delay in milliseconds if the suspect must be checked again. */
  async #attemptToDelete(key: Key): Promise<number | undefined> {
    const looks = this.#unseen.get(key)?.looks ?? 0
    this.#unseen.delete(key)
    try {
      return await this.#checkSuspect(key, looks)
    } catch (error) {
      if (!(error instanceof RemoteAway)) throw error
      // The remote server did not respond, so it is unknown whether the owner, or the object
      // itself, exists.
      return this.#later(new Set([error.prefix]), key, looks)
    }
  }

  async #checkSuspect(key: Key, looks: number): Promise<number | undefined> {
    // First check the state in memory. Most suspects are not garbage: an owner was only not listed
    // yet when they became suspects.
    const known = this.#known(key)
    if (known !== undefined && (await this.#isFine(known)))
      return this.#untilSeen(key, known.head(), looks)
    const found = await this.#read(key)
    if (found === undefined) return undefined
    const { head, ...read } = found
    if (head.isMarked) return this.#finishForeground(read, head)
    if (head.owners.length === 0) return undefined
    const classified = await classify(key, head, { ...this.#classifying, at: 'latest' })
    if (classified === 'scope') return undefined
    if (classified === 'kind') {
      // If the object was deleted during the lookup of its owners, do not add it to `#unmapped`,
      // because nothing would remove it again.
      if (this.#sources.at(key)?.known(key) !== undefined) this.#unmapped.add(key)
      return undefined
    }
    const againMs = await this.#again(read, await this.#decide(read, head, classified))
    return againMs ?? this.#untilSeen(key, head, looks)
  }

  async #untilSeen(key: Key, head: ObjectHead, looks: number): Promise<number | undefined> {
    if (!this.graph.hasUnseenOwners(key)) return undefined
    const prefixes = new Set<Key>()
    const slices = new Slices(this.#options.time, { isBackground: true })
    for (const reference of head.owners) {
      const led = this.#sources.resolveOwner(reference, key)
      if (typeof led !== 'string') prefixes.add(led.source.keys.prefix)
      if (slices.isOver) await slices.turn()
    }
    return this.#later(prefixes, key, looks)
  }

  /** Schedules another check, after these resources have been listed or after a delay. */
  #later(prefixes: ReadonlySet<Key>, key: Key, looks: number): number {
    this.#unseen.set(key, { looks: looks + 1, prefixes })
    const isListed = [...prefixes].every((prefix) => this.#informer.isListed(prefix))
    const waitMs = isListed ? Math.min(UNSEEN_MS_FIRST * 2 ** looks, UNSEEN_MS_MAX) : UNSEEN_MS_MAX
    // Add jitter, so that objects that were queued together are not checked at the same time.
    const { random = Math.random } = this.#options
    return waitMs * (1 - random() / 2)
  }

  get #classifying(): Omit<Classifying, 'at'> {
    return { sources: this.#sources, graph: this.graph, time: this.#options.time ?? systemTime }
  }

  /**
   * Whether the state in memory shows that the object must be kept: it is not being deleted, and
   * all of its owners exist and do not wait for the deletion of their dependents.
   */
  async #isFine(found: SourceObject): Promise<boolean> {
    const head = found.head()
    if (head.isMarked) return false
    const classified = await classify(found.key, head, { ...this.#classifying, at: 'any' })
    if (typeof classified === 'string') return false
    return classified.dangling.length === 0 && classified.waiting.length === 0
  }

  /** Completes a foreground deletion if no dependent blocks it any more. */
  async #finishForeground(
    read: ObjectRevision,
    { finalizers }: ObjectHead,
  ): Promise<number | undefined> {
    const { key } = read
    if (!finalizers.includes(foregroundFinalizer) || !this.graph.isWaiting(key)) return undefined
    if (this.graph.hasBlockingDependents(key)) return undefined
    return this.#again(
      read,
      await this.#writes.setFinalizers(read, without(finalizers, foregroundFinalizer)),
    )
  }

  async #decide(
    read: ObjectRevision,
    head: ObjectHead,
    { solid, dangling, waiting }: ClassifiedOwners,
  ): Promise<Outcome> {
    const { key } = read
    if (solid.length > 0) {
      if (dangling.length === 0 && waiting.length === 0) return 'done'
      const uids = new Set([...dangling, ...waiting].map(({ uid }) => uid))
      return this.#writes.dropOwners(read, head.owners, uids)
    }
    if (waiting.length > 0 && this.graph.hasDependents(key)) {
      // If objects wait for each other in a circle, none of them would ever be deleted. So this
      // object must no longer block its owners.
      const isCircle =
        this.graph.hasWaitingDependents(key) && head.owners.some(({ blocks }) => blocks)
      if (isCircle) {
        const owners = head.owners.map(({ fields, blocks }) =>
          blocks ? { ...fields, blockOwnerDeletion: false } : fields,
        )
        const outcome = await this.#writes.setOwners(read, owners)
        // The write has changed the resourceVersion, so the object must be read and checked again.
        return outcome === 'done' ? 'changed' : outcome
      }
      return this.#writes.delete(read, 'Foreground')
    }
    await this.#reportStrangers(read, dangling)
    const { finalizers } = head
    if (finalizers.includes(orphanFinalizer)) return this.#writes.delete(read, 'Orphan')
    return this.#writes.delete(
      read,
      finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background',
    )
  }

  async #reportStrangers(
    read: ObjectRevision,
    dangling: ClassifiedOwners['dangling'],
  ): Promise<void> {
    const { handle, clock } = this.#options
    const { key } = read
    const place = this.#sources.nameOf(key)
    for (const reference of dangling.slice(0, STRANGERS_MAX)) {
      if (place === undefined || this.graph.wasDeleted(reference.uid)) continue
      if (!(await isInOtherNamespace(reference, this.#sources.resolveOwner(reference, key))))
        continue
      const reported = { reference, place, nowMs: clock.wallMs(), signal: this.#stopping.signal }
      await reportInvalidNamespace(handle, read, reported)
    }
  }

  async #attemptToOrphan(key: Key): Promise<number | undefined> {
    const read = await this.#read(key)
    if (read === undefined) return undefined
    const { finalizers, isMarked } = read.head
    if (!isMarked || !finalizers.includes(orphanFinalizer)) return undefined
    // Wait until the graph contains all dependents. A dependent that the graph does not contain yet
    // would keep its owner reference, and would later be deleted.
    await this.#informer.latest(this.#stopping.signal)
    const local: Key[] = []
    const remote: Key[] = []
    const slices = new Slices(this.#options.time, { isBackground: true })
    for (const dependent of this.graph.dependentsOf(key)) {
      if (isRemoteKey(dependent)) remote.push(dependent)
      else local.push(dependent)
      if (slices.isOver) await slices.turn()
    }
    const failures: unknown[] = []
    const work = async (keys: Iterator<Key> & Iterable<Key>): Promise<void> => {
      // If a dependent cannot be read or written, the other dependents must still be orphaned.
      for (const dependent of keys)
        await this.#orphan(dependent, read.uid).catch((error) => failures.push(error))
    }
    const [nextLocal, nextRemote] = [local.values(), remote.values()]
    await Promise.all([
      ...Array.from({ length: ORPHANS_MAX }, () => work(nextLocal)),
      ...Array.from({ length: REMOTE_ORPHANS_MAX }, () => work(nextRemote)),
    ])
    if (failures.length > 0) throw failures[0]
    return this.#again(
      read,
      await this.#writes.setFinalizers(read, without(finalizers, orphanFinalizer)),
    )
  }

  async #orphan(key: Key, ownerUid: string): Promise<void> {
    for (let outcome: Outcome = 'changed'; outcome === 'changed'; ) {
      this.#stopping.signal.throwIfAborted()
      const read = await this.#read(key)
      if (read === undefined) return
      const { owners } = read.head
      if (!owners.some(({ uid }) => uid === ownerUid)) return
      outcome = await this.#writes.dropOwners(read, owners, new Set([ownerUid]))
      if (outcome === 'changed') await this.#requireChange(read)
    }
  }

  async #again(read: ObjectRevision, outcome: Outcome): Promise<number | undefined> {
    if (outcome !== 'changed') return undefined
    await this.#requireChange(read)
    return CHANGED_MS
  }

  async #requireChange({ key, uid, resourceVersion }: ObjectRevision): Promise<void> {
    const now = await this.#read(key)
    // Also compare the uid, because another object may have the same name now, and objects of a
    // remote server may have no resourceVersion.
    if (now?.uid === uid) requireChange(key, resourceVersion, now.resourceVersion)
  }

  /** Reads the stored state of an object. */
  async #read(key: Key): Promise<(ObjectRevision & { readonly head: ObjectHead }) | undefined> {
    const source = this.#sources.at(key)
    const found = await source?.get(key, 'latest')
    if (source === undefined || found === undefined) return undefined
    const head = found.head()
    return { source, key, uid: head.uid, resourceVersion: found.resourceVersion, head }
  }
}

/** Calls `changed` whenever one of these sources of changes reports a change. */
function changesOf(
  origins: readonly (ChangeSource | undefined)[],
  changed: () => void,
): Disposable {
  const listening = origins.map((origin) => origin?.onChange(changed))
  return { [Symbol.dispose]: () => listening.forEach((one) => one?.[Symbol.dispose]()) }
}

const nothingRemote = { kinds: [], versions: new Set<string>() }

type ChangeSource = { readonly onChange: (listener: () => void) => Disposable }

const without = (texts: readonly string[], text: string): string[] =>
  texts.filter((one) => one !== text)
