/**
 * All resources of one database in memory, with one feed and common budgets. A resource costs
 * nothing until it is read, and little again when nobody has read it for a while.
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
 * Events for watches that resume, and lists that continue, within 80 seconds; later ones read the
 * history of the database.
 */
const PAST_BYTES = 24 << 20
const DECODED_BYTES = 32 << 20
const FRAMES_BYTES = 4 << 20
/** For watches that resume from further back: twice what the longest history takes. */
const HISTORIES_BYTES = 64 << 20
/** Room for some ten thousand objects in protobuf, or some thousand in two other encodings. */
const MEMO_BYTES = 24 << 20
const usualBytes = {
  pastBytes: PAST_BYTES,
  historiesBytes: HISTORIES_BYTES,
  decodedBytes: DECODED_BYTES,
  memoBytes: MEMO_BYTES,
}
/**
 * After this time a resource that nobody reads is dropped: an informer that lost its connection is
 * back by then.
 */
const UNUSED_MS = 5 * 60_000
/** How often unused resources, indexes and old entries of the eviction queues are looked for. */
const SWEEP_EVERY_MS = 10_000
/**
 * How often it is looked whether the objects exceed their ceiling: resources grow by events, too,
 * by tens of megabytes in a second.
 */
const CEILING_EVERY_MS = 250
/**
 * How long a watch waits for its resource to be listed before the client has to retry: the largest
 * takes some seconds.
 */
const WATCH_READY_MS = 20_000
/** How often a database that was away when the server started is asked again. */
const START_RETRY_MS = 1_000
/** One resource at a time is compared with the database; each about this often. */
const CHECK_EVERY_MS = 5 * 60_000

export type CacheOptions = {
  readonly engine: Engine
  readonly store: Store
  readonly transformer: Transformer
  /** What all keys begin with. */
  readonly root: Key
  readonly clock: Clock
  readonly timers?: Timers
  readonly log: Log
  /** Absent: no ceiling. */
  readonly memory?: CacheMemory
  readonly budgets?: {
    readonly pastBytes?: number
    readonly historiesBytes?: number
    readonly decodedBytes?: number
    readonly framesBytes?: number
    readonly memoBytes?: number
    readonly indexes?: IndexLimits
    /** Of the objects themselves; absent: no ceiling. */
    readonly objectBytes?: number
  }
  readonly unusedMs?: number
  readonly checkEveryMs?: number
  readonly watchReadyMs?: number
}

type ResourceEntry = { readonly resource: CachedResource; readonly reader: Reader }

/** The key of an object, and its revisions if it has any. */
type ItemKey = {
  readonly key: Key
  readonly revision?: Revision
  readonly createRevision?: Revision
}

/** `now`: undefined while it is not in memory. */
export type ResourceStats = {
  readonly name: string
  readonly prefix: string
  readonly now:
    | { readonly objects: number; readonly watchers: number; readonly revision: Revision }
    | undefined
  readonly counts: ResourceCounts
}

export class Cache implements AsyncDisposable {
  /** Memory for other encodings of cached objects. */
  readonly memos: MemoSpace
  readonly ceiling: CacheCeiling
  readonly #feed: Feed
  readonly #shared: CachedResourceOptions
  readonly #options: CacheOptions
  /** By prefix, and by version if one prefix is served in several. */
  readonly #resources = new Map<Key, Map<string, ResourceEntry>>()
  readonly #checkedAtMs = new WeakMap<CachedResource, number>()
  #sweepTimer: Timer | undefined
  #restored: Disposable | undefined
  #ceilingTimer: Timer | undefined
  #isChecking = false
  /** Resources of which it is not known whether the keys in use can decrypt their objects. */
  readonly #unchecked = new Set<CachedResource>()
  #isCheckingReadable = false
  /** Sweeps so far. */
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
    const slabs = new Slabs()
    this.ceiling = new CacheCeiling({
      bytesMax: budgets.objectBytes ?? Infinity,
      ...memory.share({ usedBytes: () => slabs.size.liveBytes, dropOne: () => this.#dropOne() }),
      clock,
    })
    const time = { wallMs: clock.wallMs, monotonicMs: clock.monotonicMs, ...timers }
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

  /** Connects the feed. Fails if the database cannot be reached. */
  async start(signal?: AbortSignal): Promise<void> {
    await this.#feed.start(signal)
    this.#restored = Restores.current()?.follow(this)
    this.#sweepTimer = this.#shared.time.every(SWEEP_EVERY_MS, () => this.sweep())
    if (this.ceiling.bytesMax === Infinity) return
    this.#ceilingTimer = this.#shared.time.every(CEILING_EVERY_MS, () => this.ceiling.hasRoom())
  }

  /**
   * The same for a database that may be away when the server starts: what was read before the feed
   * began is read again. Resolves when it has begun, or the signal is aborted. Never fails.
   */
  async startLater(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.start(signal)
        for (const resource of this.#all()) resource.reflector.listAgain()
        return
      } catch (error) {
        if (signal.aborted) return
        this.#shared.log('warn', 'a database does not answer yet', { error: String(error) })
        await sleep(this.#shared.time, START_RETRY_MS, signal).catch(() => undefined)
      }
    }
  }

  /**
   * Resolves when what is in memory shows everything that was acknowledged before the call. Fails
   * with a StorageError.
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

  /** Whether reads can be expected to succeed. */
  get isLive(): boolean {
    return this.#feed.isLive
  }

  /** Keeps the frames of events for watchers that need them shortly after. */
  get frames(): EvictionQueue {
    return this.#shared.frames
  }

  /**
   * Changes when the database turns out to be another one, or an older state of it: earlier
   * revisions mean nothing any more.
   */
  get databaseLife(): number {
    return this.#feed.life
  }

  /**
   * False for a while after such a change: a request may still have objects of the previous
   * database.
   */
  get isDatabaseSettled(): boolean {
    return this.#feed.isSettled
  }

  /** The reader of a resource; the same one for everybody who names the same prefix and version. */
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

  /** Brings a resource that has a reader into memory. */
  async fill(prefix: Key, version: string, make: (item: Item) => void): Promise<void> {
    await this.#resources.get(prefix)?.get(version)?.reader.fill(make)
  }

  /**
   * A reader for requests that were resolved before a definition changed but read only now. They
   * read the database, since the objects in memory follow the new definition.
   */
  retired(spec: ResourceSpec): Reader {
    const resource = new CachedResource(spec, this.#shared)
    resource.close()
    return new Reader(resource, this.#shared)
  }

  /** An item for one use, of an object that is not stored in this form. */
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
   * The home of items that are made from cached ones, and kept by their maker until it releases
   * them.
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

  /** What is in memory, for operators and tests. */
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

  /** The resources that are in memory, for operators. */
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
   * How many objects there are below a prefix; undefined: they are not in memory. Infinity: they do
   * not fit, and each list reads them from the database.
   */
  objectsOf(prefix: Key): number | undefined {
    if (this.ceiling.leavesOut(prefix)) return Infinity
    for (const { resource } of this.#resources.get(prefix)?.values() ?? []) {
      if (resource.reflector.phase === 'live') return resource.tree.size
    }
    return undefined
  }

  /** What may be kept for later, by what it is, and how much of it is. */
  budgets(): { readonly [name: string]: { readonly bytes: number; readonly bytesMax: number } } {
    const { past, frames, histories } = this.#shared
    return {
      events: past.used,
      frames: frames.used,
      encodings: this.memos.queue.used,
      histories: histories.used,
    }
  }

  /** What became of the feed. */
  get feed(): FeedStats {
    return this.#feed.stats
  }

  /**
   * Compares every live resource with the database. Returns the prefixes that differed; they are
   * listed again.
   */
  async check(): Promise<readonly Key[]> {
    const differing: Key[] = []
    for (const resource of this.#all())
      if (!(await this.#checkOne(resource))) differing.push(resource.spec.prefix)
    return differing
  }

  /**
   * To be called when other keys are in use: what is in memory but cannot be read any more is told
   * of and refused, so that whoever took a key away learns of it now, and not when the server is
   * started again. What cannot be looked at now is with the next sweep. Never fails.
   */
  async checkReadable(isConcerned: (prefix: Key) => boolean): Promise<void> {
    for (const resource of this.#all()) {
      if (!isConcerned(resource.spec.prefix)) continue
      if (resource.reflector.phase === 'live') this.#unchecked.add(resource)
      // A list that is under way has values that were decrypted with the keys of before: it begins
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

  /**
   * Runs every SWEEP_EVERY_MS: evicts what nobody uses, and compares one resource with the
   * database.
   */
  sweep(): void {
    const now = this.#shared.time.monotonicMs()
    const unusedMs = this.#options.unusedMs ?? UNUSED_MS
    for (const resource of this.#all()) resource.onSweep()
    const unused = [...this.#all()].filter(
      ({ unusedSinceMs }) => now - (unusedSinceMs ?? now) > unusedMs,
    )
    if (unused.length > 0)
      this.#shared.slabs.releaseTogether(() =>
        unused.forEach((resource) => resource.reflector.drop()),
      )
    this.#sweepQueues()
    void this.#checkUnchecked()
    const due = this.#nextToCheck(now)
    if (due === undefined || this.#isChecking) return
    this.#isChecking = true
    void this.#checkOne(due)
      // An error that nobody foresaw is a reason to look, not to end the process: reads do not rest
      // on the comparison.
      .catch((error: unknown) =>
        this.#shared.log('error', 'a comparison with the database failed', {
          error: String(error),
        }),
      )
      .finally(() => {
        this.#isChecking = false
      })
  }

  /** The resource that was read least recently, if nobody watches it. */
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
    const dropped = oldest
    this.#shared.slabs.releaseTogether(() => dropped.reflector.drop())
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
      // Also those that are added meanwhile.
      for (const resource of this.#unchecked) if (!(await this.#checkOneReadable(resource))) return
    } finally {
      this.#isCheckingReadable = false
    }
  }

  /** False if it could not be looked at. */
  async #checkOneReadable(resource: CachedResource): Promise<boolean> {
    const { log } = this.#shared
    const fields = { resource: resource.spec.name }
    // Before the look: the keys may be replaced again meanwhile.
    this.#unchecked.delete(resource)
    if (resource.reflector.phase !== 'live') return true
    try {
      const count = await resource.checkReadable()
      if (count > 0)
        log('error', 'objects cannot be decrypted with the encryption configuration', {
          ...fields,
          count,
        })
      return true
    } catch (error) {
      this.#unchecked.add(resource)
      log('warn', 'whether all objects can be decrypted is not known yet', {
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

  /** False if the cache was wrong. A failed comparison does not count as wrong. */
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
