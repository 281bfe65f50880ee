/**
 * Caches all resources of one database in memory. They share one event feed and common memory
 * budgets. A resource is loaded when it is first read, and dropped some time after its last use.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { planCache } from '../../lib/process/memory-plan.ts'
import { Restores } from '../../lib/concurrency/restores.ts'
import { sleep, systemTimers, type Timer, type Timers } from '../../lib/time/timers.ts'
import type { Engine, Key, Revision } from '../engine.ts'
import { StorageError } from '../errors.ts'
import { Feed, type FeedStats } from '../feed.ts'
import type { Store } from '../store.ts'
import type { Transformer } from '../transform.ts'
import { CacheMemory } from './cache-memory.ts'
import { CacheCeiling } from './ceiling.ts'
import { checkResource } from './check.ts'
import type { ResourceCounts } from './counts.ts'
import { type ObjectCodec, Item, type ItemHome } from './item.ts'
import type { IndexLimits } from './field-index.ts'
import { HistoryBudget } from './history.ts'
import { EvictionQueue, SWEEPS_KEPT } from './eviction-queue.ts'
import type { MemoSpace } from './memoized.ts'
import { REACH_MS } from './fresh-state.ts'
import { Reader } from './reader.ts'
import type { CachedResourceOptions, ResourceSpec } from './resource-options.ts'
import { CachedResource } from './resource.ts'
import { DecodedObjects } from './decoded-objects.ts'
import { Slabs } from './slabs.ts'

/**
 * Memory budget for recent events. It is enough for watches that resume and lists that continue
 * within 80 seconds. Later requests read the history of the database.
 */
const PAST_BYTES = 24 << 20
const DECODED_BYTES = 32 << 20
const FRAMES_BYTES = 4 << 20
/**
 * Memory budget for events that are read from the history of the database, for watches that resume
 * from an older revision. It is twice the maximum size of one history.
 */
const HISTORIES_BYTES = 64 << 20
/**
 * Memory budget for encodings of objects in addition to their JSON for clients. It has room for
 * about ten thousand objects in protobuf, or a few thousand objects in two other encodings.
 */
const MEMO_BYTES = 24 << 20
const usualBytes = {
  pastBytes: PAST_BYTES,
  historiesBytes: HISTORIES_BYTES,
  decodedBytes: DECODED_BYTES,
  memoBytes: MEMO_BYTES,
}
/**
 * A resource that has not been used for this long is dropped. An informer that lost its connection
 * reconnects within this time.
 */
const UNUSED_MS = 5 * 60_000
/**
 * Interval at which unused resources, unused indexes and old entries of the eviction queues are
 * dropped.
 */
const SWEEP_EVERY_MS = 10_000
/**
 * Interval at which the memory of the objects is compared with its limit. Resources also grow
 * because of events, by tens of megabytes per second.
 */
const CEILING_EVERY_MS = 250
/**
 * Maximum time that a watch waits until its resource is loaded. After that, the client has to
 * retry. Loading the largest resources takes a few seconds.
 */
const WATCH_READY_MS = 20_000
/** Delay between attempts to connect to a database that was down when the server started. */
const START_RETRY_MS = 1_000
/**
 * Approximate interval at which each resource is compared with the database. Only one resource is
 * compared at a time.
 */
const CHECK_EVERY_MS = 5 * 60_000

export type CacheOptions = {
  readonly engine: Engine
  readonly store: Store
  readonly transformer: Transformer
  /** Prefix of all keys. */
  readonly root: Key
  readonly clock: Clock
  readonly timers?: Timers
  readonly log: Log
  /** Memory that all caches of the process share. If absent, there is no limit. */
  readonly memory?: CacheMemory
  readonly budgets?: {
    readonly pastBytes?: number
    readonly historiesBytes?: number
    readonly decodedBytes?: number
    readonly framesBytes?: number
    readonly memoBytes?: number
    readonly indexes?: IndexLimits
    /** Maximum memory for the objects themselves. If absent, there is no limit. */
    readonly objectBytes?: number
  }
  readonly unusedMs?: number
  readonly checkEveryMs?: number
  readonly watchReadyMs?: number
}

type ResourceEntry = { readonly resource: CachedResource; readonly reader: Reader }

/**
 * The key and the revisions of a temporary item. The revisions are absent if the object is not
 * stored.
 */
type ItemKey = {
  readonly key: Key
  readonly revision?: Revision
  readonly createRevision?: Revision
}

/**
 * State of one resource. `now` is undefined while the objects of the resource are not in memory.
 */
export type ResourceStats = {
  readonly name: string
  readonly prefix: string
  readonly now:
    | { readonly objects: number; readonly watchers: number; readonly revision: Revision }
    | undefined
  readonly counts: ResourceCounts
}

export class Cache implements AsyncDisposable {
  /** Memory for encodings of cached objects in addition to their JSON for clients. */
  readonly memos: MemoSpace
  readonly ceiling: CacheCeiling
  readonly #feed: Feed
  readonly #shared: CachedResourceOptions
  readonly #options: CacheOptions
  /**
   * Cached resources by key prefix, then by API version. A kind is stored in one version, but can
   * be served in several.
   */
  readonly #resources = new Map<Key, Map<string, ResourceEntry>>()
  readonly #checkedAtMs = new WeakMap<CachedResource, number>()
  #sweepTimer: Timer | undefined
  #restored: Disposable | undefined
  #ceilingTimer: Timer | undefined
  #isChecking = false
  /**
   * Resources that still have to be checked for objects that the current encryption keys cannot
   * decrypt.
   */
  readonly #unchecked = new Set<CachedResource>()
  #isCheckingReadable = false
  /** Number of periodic cleanups (`sweep`) so far. */
  #sweeps = 0

  constructor(options: CacheOptions) {
    const { engine, store, transformer, root, clock, timers = systemTimers, log } = options
    const { memory = new CacheMemory(Infinity) } = options
    const planned =
      memory.bytesMax === Infinity ? {} : planCache(memory.bytesMax, usualBytes, memory.caches)
    const budgets = { ...planned, ...options.budgets }
    this.#options = options
    this.memos = { queue: new EvictionQueue(budgets.memoBytes ?? MEMO_BYTES), slabs: new Slabs() }
    this.#feed = new Feed({ engine, transformer, root, clock, timers, log })
    let listings = 0
    const time = { wallMs: clock.wallMs, monotonicMs: clock.monotonicMs, ...timers }
    const slabs = new Slabs(time)
    this.ceiling = new CacheCeiling({
      bytesMax: budgets.objectBytes ?? Infinity,
      ...memory.share({
        usedBytes: () => slabs.size.liveBytes,
        isReleasing: () => slabs.isReleasing,
        dropOne: () => this.#dropOne(),
      }),
      clock,
    })
    this.#shared = {
      engine,
      store,
      transformer,
      time,
      log,
      feed: this.#feed,
      slabs,
      ceiling: this.ceiling,
      decoded: new DecodedObjects(budgets.decodedBytes ?? DECODED_BYTES),
      frames: new EvictionQueue(budgets.framesBytes ?? FRAMES_BYTES),
      past: new EvictionQueue(budgets.pastBytes ?? PAST_BYTES),
      newListing: () => ++listings,
      histories: new HistoryBudget(budgets.historiesBytes ?? HISTORIES_BYTES),
      indexes: budgets.indexes ?? {},
      watchReadyMs: options.watchReadyMs ?? WATCH_READY_MS,
    }
  }

  /** Starts the event feed. Rejects if the database cannot be reached. */
  async start(signal?: AbortSignal): Promise<void> {
    await this.#feed.start(signal)
    this.#restored = Restores.current()?.follow(this)
    this.#sweepTimer = this.#shared.time.every(SWEEP_EVERY_MS, () => this.sweep())
    if (this.ceiling.bytesMax === Infinity) return
    this.#ceilingTimer = this.#shared.time.every(CEILING_EVERY_MS, () => this.ceiling.hasRoom())
  }

  /**
   * Like `start`, but if the database is down, retries until it responds. Resources that were
   * loaded before the event feed started are loaded again. Resolves when the event feed has started
   * or the signal is aborted. Never rejects.
   */
  async startLater(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.start(signal)
        for (const resource of this.#all()) resource.reflector.listAgain()
        return
      } catch (error) {
        if (signal.aborted) return
        this.#shared.log('warn', 'the database is not responding yet; retrying', {
          error: String(error),
        })
        await sleep(this.#shared.time, START_RETRY_MS, signal).catch(() => undefined)
      }
    }
  }

  /**
   * Resolves when the cache contains every write that was acknowledged before the call. Rejects
   * with a StorageError if the database does not respond.
   */
  async latest(): Promise<void> {
    const revision = await this.#feed.prove()
    const reach = async (resource: CachedResource): Promise<void> => {
      if ((await resource.reflector.reach(revision, REACH_MS)) || !isHeld(resource)) return
      throw new StorageError(
        'unavailable',
        `${resource.spec.name} cannot be brought up to date at the moment`,
      )
    }
    await Promise.all([...this.#all()].filter(isHeld).map(reach))
  }

  /** Whether the connection to the database works, so that reads should succeed. */
  get isLive(): boolean {
    return this.#feed.isLive
  }

  /**
   * Caches frames (encoded watch events) for a while, because other watchers often need the same
   * frames shortly after.
   */
  get frames(): EvictionQueue {
    return this.#shared.frames
  }

  /**
   * A number that changes when the database is replaced or restored from an older backup. Revisions
   * from before the change are then invalid.
   */
  get databaseLife(): number {
    return this.#feed.life
  }

  /**
   * Whether requests can no longer hold objects of a previous database. False for a while after
   * `databaseLife` has changed.
   */
  get isDatabaseSettled(): boolean {
    return this.#feed.isSettled
  }

  /**
   * Returns the reader of a resource. All callers that pass the same prefix and version share it.
   */
  resource(spec: ResourceSpec): Reader {
    const { prefix, version = '' } = spec
    const versions = this.#resources.get(prefix) ?? new Map<string, ResourceEntry>()
    const known = versions.get(version)
    if (known !== undefined) return known.reader
    const resource = new CachedResource(spec, this.#shared)
    const reader = new Reader(resource, this.#shared)
    this.#resources.set(prefix, versions.set(version, { resource, reader }))
    return reader
  }

  /** Loads a resource into memory, if it has a reader. Calls `make` for each object. */
  async fill(prefix: Key, version: string, make: (item: Item) => void): Promise<void> {
    await this.#resources.get(prefix)?.get(version)?.reader.fill(make)
  }

  /**
   * Returns a reader for requests that were routed before a CustomResourceDefinition changed, but
   * access the storage after the change. The reader uses the database, because the objects in
   * memory already follow the new definition.
   */
  retired(spec: ResourceSpec): Reader {
    const resource = new CachedResource(spec, this.#shared)
    resource.close()
    return new Reader(resource, this.#shared)
  }

  /**
   * Creates a temporary item from a decoded object that the cache does not contain in this form.
   * Examples are converted objects, and objects that are not stored. `print` encodes the object.
   */
  looseItem(key: ItemKey, object: KubeObject, print: ObjectCodec['print']): Item {
    const { slabs } = this.#shared
    const home: ItemHome = {
      codec: { print, decode: () => object },
      put: (slot, bytes, facts) => slabs.putLoose(slot, bytes, facts),
      view: (slot, start, end) => slabs.view(slot, start, end),
      keep: () => undefined,
    }
    const item = new Item(home, { revision: 0, createRevision: 0, ...key })
    item.decoded = object
    return item
  }

  /**
   * Returns an `ItemHome`, which stores the bytes of items that are derived from cached ones. The
   * owner of these items must pass them to `release` when they are no longer needed.
   */
  homeOf(codec: ObjectCodec): ItemHome {
    const { slabs, decoded } = this.#shared
    return {
      codec,
      put: (slot, bytes, facts) => slabs.put(slot, bytes, facts),
      view: (slot, start, end) => slabs.view(slot, start, end),
      keep: (item) => decoded.add(item),
    }
  }

  release(item: Item): void {
    this.#shared.slabs.release(item)
  }

  /** Drops a resource that is no longer served, and closes its watches. */
  remove(prefix: Key): void {
    for (const { resource } of this.#resources.get(prefix)?.values() ?? []) resource.close()
    this.#resources.delete(prefix)
  }

  /** Returns totals over all cached resources, for metrics and tests. */
  stats(): {
    resources: number
    live: number
    objects: number
    watchers: number
    liveBytes: number
    slabBytes: number
  } {
    const all = [...this.#all()]
    return {
      resources: all.length,
      live: all.filter((resource) => resource.reflector.phase === 'live').length,
      objects: all.reduce((sum, resource) => sum + resource.tree.size, 0),
      watchers: all.reduce((sum, resource) => sum + resource.watcherCount, 0),
      ...this.#shared.slabs.size,
    }
  }

  /** Statistics of each resource, for operators. */
  *resources(): Generator<ResourceStats> {
    for (const resource of this.#all()) {
      const { spec, tree, watcherCount, counts, reflector } = resource
      const { phase, revision } = reflector
      const now =
        phase === 'live' ? { objects: tree.size, watchers: watcherCount, revision } : undefined
      yield {
        name: spec.name,
        prefix: spec.prefix.slice(this.#options.root.length - 1, -1),
        now,
        counts,
      }
    }
  }

  /**
   * Number of objects below a prefix. Undefined if the objects are not in memory. Infinity if they
   * do not fit into memory, because each list then reads all of them from the database.
   */
  objectsOf(prefix: Key): number | undefined {
    if (this.ceiling.leavesOut(prefix)) return Infinity
    for (const { resource } of this.#resources.get(prefix)?.values() ?? []) {
      if (resource.reflector.phase === 'live') return resource.tree.size
    }
    return undefined
  }

  /** Memory budgets of evictable data, by name. Evicted data can be created or read again. */
  budgets(): { readonly [name: string]: { readonly bytes: number; readonly bytesMax: number } } {
    const { past, frames, histories } = this.#shared
    return {
      events: past.used,
      frames: frames.used,
      encodings: this.memos.queue.used,
      histories: histories.used,
    }
  }

  /** Counters and lag of the event feed. */
  get feed(): FeedStats {
    return this.#feed.stats
  }

  /**
   * Compares every loaded resource with the database. Returns the prefixes of the resources that
   * differed. Those resources are loaded again.
   */
  async check(): Promise<readonly Key[]> {
    const differing: Key[] = []
    for (const resource of this.#all())
      if (!(await this.#checkOne(resource))) differing.push(resource.spec.prefix)
    return differing
  }

  /**
   * Finds objects in memory that cannot be decrypted with the current encryption keys, and logs
   * their number. Linearizable reads of these objects then fail. Called after the keys have
   * changed, so that an operator who removed a key learns of it now and not at the next restart.
   * Resources that cannot be checked now are checked at the next periodic cleanup. Never rejects.
   */
  async checkReadable(isConcerned: (prefix: Key) => boolean): Promise<void> {
    for (const resource of this.#all()) {
      if (!isConcerned(resource.spec.prefix)) continue
      if (resource.reflector.phase === 'live') this.#unchecked.add(resource)
      // A list in progress contains values that were decrypted with the previous keys, so it starts
      // again.
      else resource.reflector.listAgain()
    }
    await this.#checkUnchecked()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#restored?.[Symbol.dispose]()
    this.#sweepTimer?.close()
    this.#ceilingTimer?.close()
    for (const resource of this.#all()) resource.close({ keepsBytes: true })
    await this.#feed[Symbol.asyncDispose]()
  }

  /** Runs every SWEEP_EVERY_MS: evicts unused data, and compares one resource with the database. */
  sweep(): void {
    const now = this.#shared.time.monotonicMs()
    const unusedMs = this.#options.unusedMs ?? UNUSED_MS
    for (const resource of this.#all()) resource.onSweep()
    const unused = [...this.#all()].filter(
      ({ unusedSinceMs }) => now - (unusedSinceMs ?? now) > unusedMs,
    )
    if (unused.length > 0) unused.forEach((resource) => resource.reflector.drop())
    this.#sweepQueues()
    void this.#checkUnchecked()
    const due = this.#nextToCheck(now)
    if (due === undefined || this.#isChecking) return
    this.#isChecking = true
    void this.#checkOne(due)
      // An unexpected error is only logged, because reads do not depend on the comparison.
      .catch((error: unknown) =>
        this.#shared.log('error', 'a comparison with the database failed', {
          error: String(error),
        }),
      )
      .finally(() => {
        this.#isChecking = false
      })
  }

  /** Drops the least recently read resource without watchers. Returns false if there is none. */
  #dropOne(): boolean {
    let oldest: CachedResource | undefined
    for (const resource of this.#all()) {
      const { unusedSinceMs } = resource
      if (unusedSinceMs === undefined || resource.tree.size === 0) continue
      if (oldest === undefined || unusedSinceMs < (oldest.unusedSinceMs ?? Infinity))
        oldest = resource
    }
    if (oldest === undefined) return false
    this.ceiling.leaveOut(oldest.spec.prefix)
    oldest.reflector.drop()
    return true
  }

  *#all(): Generator<CachedResource> {
    for (const versions of this.#resources.values())
      for (const { resource } of versions.values()) yield resource
  }

  #sweepQueues(): void {
    const { past, frames, decoded } = this.#shared
    for (const queue of [past, frames, this.memos.queue]) queue.sweep()
    if (++this.#sweeps % SWEEPS_KEPT === 0) decoded.sweep()
  }

  async #checkUnchecked(): Promise<void> {
    if (this.#isCheckingReadable) return
    this.#isCheckingReadable = true
    try {
      // The loop also visits resources that are added while it runs.
      for (const resource of this.#unchecked) if (!(await this.#checkOneReadable(resource))) return
    } finally {
      this.#isCheckingReadable = false
    }
  }

  /**
   * Finds objects of a resource that cannot be decrypted, and logs their number. Returns false if
   * the resource could not be checked.
   */
  async #checkOneReadable(resource: CachedResource): Promise<boolean> {
    const { log } = this.#shared
    const fields = { resource: resource.spec.name }
    // Remove the resource before the check, because the keys can be replaced again during the
    // check.
    this.#unchecked.delete(resource)
    if (resource.reflector.phase !== 'live') return true
    try {
      const count = await resource.checkReadable()
      if (count > 0)
        log(
          'error',
          'objects cannot be decrypted with the current encryption configuration; restore the missing keys',
          {
            ...fields,
            count,
          },
        )
      return true
    } catch (error) {
      this.#unchecked.add(resource)
      log('warn', 'could not check whether all objects can be decrypted; retrying', {
        ...fields,
        error: String(error),
      })
      return false
    }
  }

  #nextToCheck(now: number): CachedResource | undefined {
    const everyMs = this.#options.checkEveryMs ?? CHECK_EVERY_MS
    for (const resource of this.#all()) {
      if (resource.reflector.phase !== 'live') continue
      const checkedAtMs = this.#checkedAtMs.get(resource)
      if (checkedAtMs === undefined) this.#checkedAtMs.set(resource, now)
      else if (now - checkedAtMs > everyMs) return resource
    }
    return undefined
  }

  /**
   * Compares a resource with the database. Returns false if they differ. Returns true if they are
   * equal, or if the comparison could not be completed.
   */
  async #checkOne(resource: CachedResource): Promise<boolean> {
    const { log, time, engine } = this.#shared
    this.#checkedAtMs.set(resource, time.monotonicMs())
    try {
      const result = await checkResource(engine, resource, time)
      if (result.outcome !== 'differs') return true
      log('error', 'the cache differs from the database; the resource is listed again', {
        resource: resource.spec.name,
        key: result.key,
        revision: result.revision,
      })
      resource.reflector.listAgain()
      return false
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      log('warn', 'the cache could not be compared with the database', {
        resource: resource.spec.name,
        error: error.message,
      })
      return true
    }
  }
}

const isHeld = ({ reflector: { phase } }: CachedResource): boolean =>
  phase !== 'idle' && phase !== 'closed'
