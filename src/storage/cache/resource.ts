/**
 * One resource in memory: its current objects, its recent events, its watchers. It holds nothing until the first read; then it lists
 * itself once and follows the feed. Its objects are never older than its `revision`.
 *
 * `idle`: no objects. `filling`: the first list is under way. `live`: follows the feed. `behind`: events were lost, the watchers were
 * closed, a new list is under way; until it ends, the old state is served only to readers that accept any revision up to it.
 */
import type { Wire } from '../../objects/codec/object.ts'
import { assert } from '../../lib/assert.ts'
import type { Log } from '../../lib/log.ts'
import { withTimeout, type TimeoutOptions, sleep } from '../../lib/timers.ts'
import type { Engine, Key, Revision, Versioned } from '../engine.ts'
import { isCode, StorageError } from '../errors.ts'
import { type KeyRange, rangeOf } from '../keys.ts'
import type { OpenedEvent } from '../opened-events.ts'
import type { Store, Unreadable } from '../store.ts'
import type { Transformer } from '../transform.ts'
import { type CacheCeiling, doesNotFit, OutOfRoom } from './ceiling.ts'
import { type ContentsParts, ResourceContents } from './contents.ts'
import { ObjectChange } from './event.ts'
import { FieldIndexes, type IndexLimits } from './field-index.ts'
import type { HistoryBudget } from './history.ts'
import type { EvictionQueue } from './eviction-queue.ts'
import { Item, type ItemHome, type ObjectCodec } from './item.ts'
import { type Loaded, Listing, type Told } from './listing.ts'
import { OwnWrites } from './own-writes.ts'
import { ResourceCounts } from './counts.ts'
import type { Ring } from './ring.ts'
import type { Following, SharedFeed } from './shared-feed.ts'
import type { DecodedObjects } from './decoded-objects.ts'
import { type IndexedValue, type KeySet, newTree, type Tree } from './tree.ts'
import type { Snapshot } from './snapshots.ts'
import { UnreadableObjects } from './unreadable-objects.ts'
import { Waker } from './wake.ts'
import type { Watcher, WatchSource } from './watch.ts'

const RETRY_MIN_MS = 50
const RETRY_MAX_MS = 2_000
/** A resource up to this is in memory whatever the ceiling says: what the server itself follows (roles, webhooks, levels) mostly is no larger. */
const SMALL_BYTES = 1 << 20
/** How long a resource whose values could not be decrypted is not listed again for another reader. */
const FAILED_FILL_MS = 1_000

export type ResourceSpec = ObjectCodec & {
  /** For logs and errors: `configmaps`. */
  readonly name: string
  /** Ends in a slash. */
  readonly prefix: Key
  /** Distinguishes the versions of a kind that is stored once and served in several. */
  readonly version?: string
  /** What upstream calls the objects in a message: `*core.Secret`. */
  readonly goKind?: string
}

/** What all resources of a cache share. */
export type Parts = ContentsParts & {
  readonly engine: Engine
  readonly store: Store
  readonly transformer: Transformer
  readonly feed: SharedFeed
  readonly decoded: DecodedObjects
  readonly frames: EvictionQueue
  /** A number that is unique in this process. */
  readonly newListing: () => number
  readonly histories: HistoryBudget
  readonly ceiling: CacheCeiling
  readonly indexes: IndexLimits
  /** How long a watch waits for its resource. */
  readonly watchReadyMs: number
  readonly log: Log
}

type Phase =
  | { readonly phase: 'idle' }
  | { readonly phase: 'filling' | 'behind'; readonly listing: Listing }
  | { readonly phase: 'live' }
  | { readonly phase: 'closed' }

type OnUnreadableKey = (key: Key, state: 'unreadable' | 'gone') => void

type FailedFill = { readonly error: unknown; readonly untilMs: number }

export class CachedResource {
  readonly spec: ResourceSpec
  readonly range: KeyRange
  readonly home: ItemHome
  readonly counts = new ResourceCounts()
  readonly #parts: Parts
  /** After a timeout, the waiting loop checks the time itself. */
  readonly #late: TimeoutOptions<void>
  readonly #watchers = new Set<Watcher>()
  readonly #waker: Waker
  readonly #indexes: FieldIndexes | undefined
  #ownWrites = new OwnWrites()
  #unreadable = new UnreadableObjects()
  /** There was a list of all objects: what cannot be read in a later one may be known. */
  #wasComplete = false
  /** Before this revision something was unreadable that is not any more. */
  #unreadableUntil: Revision = 0
  readonly #unreadableListeners = new Map<Watcher, OnUnreadableKey>()
  #failedFill: FailedFill | undefined
  #isProbing = false
  #phase: Phase = { phase: 'idle' }
  #subscription: Following | undefined
  #contents: ResourceContents
  /** The revision of the last list; the feed's is used once it is higher. */
  #listed: Revision = 0
  #usedAtMs = 0

  constructor(spec: ResourceSpec, parts: Parts) {
    this.spec = spec
    this.range = rangeOf(spec.prefix)
    this.#parts = parts
    this.#late = { onTimeout: () => undefined, timers: parts.time }
    this.#waker = new Waker(parts.time)
    this.#contents = new ResourceContents({ tree: newTree(), revision: 0, listing: 0 }, parts)
    const current = () => ({ tree: this.tree, ring: this.ring, range: this.range })
    this.#indexes = spec.facts && new FieldIndexes(spec.facts, current, parts.time, parts.indexes)
    this.home = {
      codec: spec,
      put: (item, bytes, facts) => parts.slabs.put(item, bytes, facts),
      view: (item, start, end) => parts.slabs.view(item, start, end),
      keep: (item) => parts.decoded.add(item),
    }
  }

  /** Everything up to this revision is in the tree and the ring. */
  get revision(): Revision {
    if (this.#phase.phase !== 'live' || this.#subscription === undefined) return this.#listed
    return Math.max(this.#listed, this.#subscription.revision)
  }

  /** Its objects did not fit into memory a while ago: they are read from the database. */
  get isLeftOut(): boolean {
    return this.#phase.phase === 'idle' && this.#parts.ceiling.leavesOut(this.spec.prefix)
  }

  /** A method: TypeScript would assume that a comparison still holds after an await. */
  isClosed(): boolean {
    return this.#phase.phase === 'closed'
  }

  get phase(): Phase['phase'] {
    return this.#phase.phase
  }

  /** Whether there are objects to serve, without waiting. */
  get isFilled(): boolean {
    return this.#phase.phase === 'live' || this.#phase.phase === 'behind'
  }

  get tree(): Tree {
    return this.#contents.tree
  }

  get ring(): Ring {
    return this.#contents.ring
  }

  /** The keys of all objects that have these values now, and of some others; undefined if no index can answer in this turn. */
  having(by: readonly IndexedValue[]): KeySet | undefined {
    return this.#indexes?.find(by)?.clone()
  }

  /** No index had these values, and a scan rejected `looks` objects. */
  noteScan(by: readonly IndexedValue[], looks: number): void {
    this.#indexes?.noteScan(by, looks)
  }

  /**
   * Identifies the list that the contents began with. With a revision it identifies a state, even if two databases have the same
   * revisions.
   */
  get listing(): number {
    return this.#contents.listing
  }

  get watcherCount(): number {
    return this.#watchers.size
  }

  get unreadable(): UnreadableObjects {
    return this.#unreadable
  }

  /** Whether all objects could be read at a revision that the resource has reached. */
  wasReadable(revision: Revision): boolean {
    return this.#unreadable.size === 0 && revision >= this.#unreadableUntil
  }

  /** Since when nobody has used it; undefined while it is watched or not live. */
  get unusedSinceMs(): number | undefined {
    return this.#watchers.size > 0 || this.#phase.phase !== 'live' ? undefined : this.#usedAtMs
  }

  /** The objects that can be served without waiting. */
  known(): Tree | undefined {
    this.#usedAtMs = this.#parts.time.monotonicMs()
    return this.isFilled ? this.tree : undefined
  }

  /**
   * Makes sure that there are objects to serve, unless it is closed. True if this call began the list, which is then newer than the call.
   */
  async ensure(): Promise<boolean> {
    this.#usedAtMs = this.#parts.time.monotonicMs()
    const { phase } = this.#phase
    if (phase === 'live' || phase === 'behind' || phase === 'closed') return false
    if (this.#failedFill !== undefined && this.#usedAtMs < this.#failedFill.untilMs)
      throw this.#failedFill.error
    const isFirst = this.#phase.phase === 'idle'
    await (this.#phase.phase === 'idle' ? this.#begin() : this.#phase.listing.done)
    return isFirst
  }

  /** True once the resource follows the feed; false if that takes too long, as it does without the database. */
  async live(timeoutMs: number): Promise<boolean> {
    if (this.isLeftOut) throw doesNotFit(this.spec.name)
    const until = this.#parts.time.monotonicMs() + timeoutMs
    this.#usedAtMs = this.#parts.time.monotonicMs()
    while (this.#phase.phase !== 'live') {
      const leftMs = until - this.#parts.time.monotonicMs()
      if (leftMs <= 0) return false
      if (this.#phase.phase === 'closed')
        throw new StorageError('unavailable', 'the cache is closed')
      await withTimeout(
        this.#phase.phase === 'idle' ? this.#begin() : this.#phase.listing.done,
        leftMs,
        this.#late,
      )
    }
    return true
  }

  /** True once the resource has everything up to this revision; false if that takes too long. */
  async reach(revision: Revision, timeoutMs: number): Promise<boolean> {
    const until = this.#parts.time.monotonicMs() + timeoutMs
    while (this.revision < revision) {
      const leftMs = until - this.#parts.time.monotonicMs()
      if (leftMs <= 0) return false
      const { phase } = this.#phase
      if (phase === 'filling' || phase === 'behind')
        await withTimeout(this.#phase.listing.done, leftMs, this.#late)
      else if (phase !== 'live' || !(await this.#subscription?.reach(revision, leftMs)))
        return false
    }
    return true
  }

  /** The state at a revision that the resource has reached; undefined if that is too long ago. */
  async stateAt(revision: Revision): Promise<Snapshot | undefined> {
    // A resource without objects has no past, either.
    if (this.known() === undefined) return undefined
    return this.#contents.stateAt(revision)
  }

  /** The current state as an immutable copy. */
  snapshot(): Snapshot {
    return this.#contents.snapshot()
  }

  /** Keeps a snapshot that will be requested again. */
  keep(snapshot: Snapshot): void {
    this.#contents.keep(snapshot)
  }

  /** For the writer of a version: when the feed delivers it, it need not be decoded again. Undefined: the object is not to be kept. */
  expect(
    key: Key,
    revision: Revision,
    object: Parameters<Item['setWire']>[0] | undefined,
    wire: Wire,
  ): void {
    // A write to the previous database may be acknowledged late, with a revision that means another version in this one.
    if (!this.#parts.feed.isSettled) return
    this.#parts.feed.noteWrite(revision)
    if (object === undefined || this.#phase.phase === 'idle' || this.#phase.phase === 'closed')
      return
    // The response to the write comes before the event, or soon after it: the tree need hardly ever be searched.
    const current = revision > this.revision ? undefined : this.#latest(key, revision)
    if (current?.revision === revision) current.setWire(object, wire)
    else if (current === undefined || current.revision < revision)
      this.#ownWrites.add({ key, revision, object, wire })
  }

  /** The current item of the key, whose last known change is at this revision. */
  #latest(key: Key, revision: Revision): Item | undefined {
    const change = this.#contents.ring.recent(key, revision)
    return change === undefined ? this.tree.get(key) : change.item
  }

  /** `by`: the watcher selects only objects that have all these values; it is woken for events of the first one. */
  watchSource([by]: readonly IndexedValue[] = []): WatchSource {
    const { ring, groups } = this.#contents
    const valueOf = by && this.#indexes?.readerOf(by)
    const group = by && valueOf && groups.join(by, valueOf)
    const waker = group?.waker ?? this.#waker
    return {
      ring,
      frames: this.#parts.frames,
      defer: this.#parts.time.defer,
      revision: () => this.revision,
      next:
        group === undefined
          ? (position) => (position < ring.first ? undefined : position)
          : (at) => group.next(at),
      sleep: (watcher) => waker.sleep(watcher),
      leave: (watcher) => {
        this.#watchers.delete(watcher)
        this.#unreadableListeners.delete(watcher)
        if (watcher.closedBecause === 'too-slow') this.counts.tooSlow++
        else if (watcher.closedBecause === 'gap') this.counts.gaps++
        this.counts.initial += watcher.initialCount
        waker.forget(watcher)
        if (by !== undefined && group !== undefined) groups.leave(by, group)
        this.#usedAtMs = this.#parts.time.monotonicMs()
      },
    }
  }

  /** `onUnreadable` is told the keys of objects that cannot be decrypted, now and later. */
  join(watcher: Watcher, onUnreadable?: OnUnreadableKey): void {
    this.#watchers.add(watcher)
    if (onUnreadable === undefined) return
    this.#unreadableListeners.set(watcher, onUnreadable)
    for (const [key, revision] of this.#unreadable.revisions()) {
      if (!this.#isShown(key, revision)) onUnreadable(key, 'unreadable')
    }
  }

  /** At each sweep of the cache. */
  onSweep(): void {
    for (const watcher of this.#watchers) watcher.onSweep()
    this.#indexes?.onSweep()
    this.#contents.groups.onSweep()
    if (this.#unreadable.size > 0) void this.#probeUnreadable()
  }

  /** An item that lives outside of the cache, for one reader. */
  looseItem = (found: Versioned): Item => {
    const { slabs } = this.#parts
    const item = new Item(
      { ...this.home, put: (slot, bytes, facts) => slabs.putLoose(slot, bytes, facts) },
      found,
    )
    slabs.putLoose(item, found.value)
    return item
  }

  /** Drops all objects. */
  drop(): void {
    assert(this.#watchers.size === 0, 'a watched resource is not dropped')
    this.#unsubscribe()
    this.#release()
    this.spec.facts?.forgetWords()
    this.#phase = { phase: 'idle' }
  }

  /**
   * Looks which objects in memory can be read from the database now; returns how many cannot. Whoever accepts any state reads them on, and watchers
   * lose nothing.
   */
  async checkReadable(): Promise<number> {
    const lost = new Map<Key, Unreadable>()
    const walked = {
      isBackground: true,
      readsAhead: true,
      setsAsideUnreadable: true,
      isEachLatest: true,
    }
    for await (const { unreadable } of this.#parts.store.walk(this.range, walked)) {
      for (const one of unreadable) lost.set(one.key, one)
    }
    if (this.#phase.phase !== 'live') return 0
    for (const [key, revision] of this.#unreadable.revisions()) {
      if (this.#isShown(key, revision) && !lost.has(key)) this.#unreadable.delete(key)
    }
    let count = 0
    for (const one of lost.values()) {
      if (!this.#isShown(one.key, one.revision)) continue
      this.#unreadable.add(one)
      count++
    }
    return count
  }

  #isShown(key: Key, revision: Revision): boolean {
    return this.tree.get(key)?.revision === revision
  }

  /** The objects differ from the database: the resource lists itself again. */
  distrust(): void {
    this.#onGap()
  }

  /** Closes for good. `keepsBytes`: the whole cache is closed, so the slabs need not be tidied. */
  close({ keepsBytes = false } = {}): void {
    for (const watcher of this.#watchers) watcher.close('shutdown')
    this.#unsubscribe()
    const before = this.#phase
    if (!keepsBytes) {
      if ('listing' in before) before.listing.forget()
      this.#release()
    }
    this.#phase = { phase: 'closed' }
    if ('listing' in before) before.listing.close()
  }

  #unsubscribe(): void {
    this.#subscription?.end()
    this.#subscription = undefined
  }

  #release(): void {
    this.#unreadable = new UnreadableObjects()
    this.#contents.release()
    this.#ownWrites = new OwnWrites()
    this.#indexes?.clear()
    this.#show(newTree(), 0)
  }

  /** Replaces the contents by a state without a past. */
  #show(tree: Tree, revision: Revision): void {
    this.#contents = new ResourceContents(
      { tree, revision, listing: this.#parts.newListing() },
      this.#parts,
    )
    this.#listed = revision
  }

  #begin(): Promise<void> {
    const subscription = this.#parts.feed.subscribe(this.spec.prefix, {
      onEvents: (events) => this.#onEvents(events),
      onGap: () => this.#onGap(),
      onReset: () => this.#onReset(),
    })
    this.#subscription = subscription
    const listing = this.#newListing()
    this.#phase = { phase: 'filling', listing }
    listing.settleWith(
      listing.fill(this.#goLive).catch((error: unknown) => {
        listing.forget()
        if (error instanceof OutOfRoom) this.#parts.ceiling.leaveOut(this.spec.prefix)
        if (!this.isClosed()) this.drop()
        this.#noteFailedFill(error)
        throw error
      }),
    )
    return listing.done
  }

  #newListing(): Listing {
    return new Listing({
      range: this.range,
      // Objects that are listed again are there twice for a moment, and one that watchers follow must not be lost for it.
      checkRoom: (loadedBytes) => {
        if (loadedBytes <= SMALL_BYTES || this.#watchers.size > 0 || this.#phase.phase === 'behind')
          return
        if (this.#parts.ceiling.hasRoom()) return
        throw new OutOfRoom(this.spec.name)
      },
      parts: this.#parts,
      newItem: (found) => this.#newItem(found),
      counts: this.counts,
    })
  }

  /** While the KMS plugin does not answer, not every reader is to list the resource in vain. */
  #noteFailedFill(error: unknown): void {
    if (!isCode(error, 'sealed')) return
    this.#failedFill = { error, untilMs: this.#parts.time.monotonicMs() + FAILED_FILL_MS }
  }

  readonly #goLive = ({ tree, revision, unreadable }: Loaded, since: readonly Told[]): void => {
    const isFirst = this.#phase.phase === 'filling' && !this.#wasComplete
    const found = isFirst
      ? UnreadableObjects.listed(unreadable)
      : this.#unreadable.listedAgain(unreadable, (key) => this.tree.get(key) !== undefined)
    this.#wasComplete ||= unreadable.length === 0
    this.#release()
    this.#show(tree, revision)
    this.counts.initialized++
    this.#unreadable = found
    this.#failedFill = undefined
    this.#phase = { phase: 'live' }
    for (const event of since) {
      if (event.revision > revision) this.#apply(event)
      else if (event.item !== undefined) this.#parts.slabs.release(event.item)
    }
    this.#waker.wake()
  }

  /**
   * What a watcher has delivered is right, but the events that follow are lost: it is closed, and its client resumes from the last
   * revision it has seen. If the history after that is still available, here or in the database, the client misses nothing; if not, it
   * lists.
   */
  #onGap(): void {
    if ('listing' in this.#phase) this.#phase.listing.lose()
    if (this.#phase.phase !== 'live') return
    this.#listed = this.revision
    for (const watcher of this.#watchers) watcher.close('gap')
    const listing = this.#newListing()
    this.#phase = { phase: 'behind', listing }
    listing.settleWith(this.#catchUp(listing))
  }

  /** The objects are of another database: the next reader lists the resource, and a list under way begins again. */
  #onReset(): void {
    for (const watcher of this.#watchers) watcher.close('gap')
    if (this.#phase.phase === 'live') this.drop()
    if (!('listing' in this.#phase)) return
    this.#phase.listing.lose()
    this.#release()
    this.#phase = { ...this.#phase, phase: 'filling' }
  }

  async #catchUp(listing: Listing): Promise<void> {
    const from = this.#listed
    for (let waitMs = RETRY_MIN_MS; !this.isClosed(); waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
      try {
        await listing.fill(this.#goLive)
        this.#parts.log('info', 'resource listed again', {
          resource: this.spec.name,
          from,
          to: this.#listed,
        })
        return
      } catch (error) {
        listing.forget()
        const fields = { resource: this.spec.name, error: String(error) }
        this.#parts.log('warn', 'resource cannot be listed again yet', fields)
        await sleep(this.#parts.time, waitMs)
      }
    }
  }

  #onEvents(events: readonly OpenedEvent[]): void {
    if (this.#phase.phase === 'idle' || this.#phase.phase === 'closed') return
    this.counts.received += events.length
    for (const event of events) {
      // A list can be ahead of the feed: events that it already includes are skipped.
      if (event.revision <= this.#listed) continue
      const { key, revision, fault } = event
      const item = event.type === 'put' && fault === undefined ? this.#newItem(event) : undefined
      if (this.#phase.phase === 'live') this.#apply({ key, item, revision, fault })
      else if ('listing' in this.#phase)
        this.#phase.listing.setAside({ key, item, revision, fault })
    }
    this.#waker.wake()
    this.#contents.groups.wake()
  }

  #apply(event: Told): void {
    const { key, revision, fault } = event
    // The database says whether the key is new: then the tree need not be searched.
    const previous = event.item?.createRevision === revision ? undefined : this.tree.get(key)
    if (fault !== undefined) {
      this.#unreadable.add({ key, revision, error: fault })
      // To its watchers the object is neither deleted nor as it was: they have to list again, and are told.
      if (previous !== undefined) this.#onGap()
      else for (const tell of this.#unreadableListeners.values()) tell(key, 'unreadable')
      return
    }
    if (this.#unreadable.get(key) !== undefined) {
      const mayBeKnown = this.#unreadable.mayBeKnown(key)
      this.#unreadable.delete(key)
      this.#unreadableUntil = revision
      if (event.item === undefined)
        for (const tell of this.#unreadableListeners.values()) tell(key, 'gone')
      // Watchers may know the object, and no event can tell of its end, nor that a selector has it no longer: they have to list again.
      if (mayBeKnown) {
        if (event.item !== undefined) this.#parts.slabs.release(event.item)
        return this.#onGap()
      }
    }
    if (event.item === undefined && previous === undefined) return
    this.counts.dispatched++
    this.#contents.record(new ObjectChange({ ...event, previous }))
  }

  /** The decrypted value; undefined if it cannot be read, or only by asking a plugin. */
  open({ key, revision, createRevision, value }: Versioned): Versioned | undefined {
    try {
      const plain = this.#parts.transformer.fromStorage(key, value)
      if (!(plain instanceof Promise)) return { key, revision, createRevision, value: plain.value }
      // Nobody waits for it.
      plain.catch(() => undefined)
      return undefined
    } catch (error) {
      if (error instanceof StorageError) return undefined
      throw error
    }
  }

  /** If one of the unreadable objects can be read by now, as with another key, the resource lists itself again. */
  async #probeUnreadable(): Promise<void> {
    const one = this.#unreadable.next()
    if (one === undefined || this.#isProbing || this.#phase.phase !== 'live') return
    this.#isProbing = true
    try {
      const { found } = await this.#parts.store.get(one.key)
      if (found?.revision !== one.revision || this.#unreadable.get(one.key) !== one) return
      if (this.#isShown(one.key, one.revision)) this.#unreadable.delete(one.key)
      else this.distrust()
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
    } finally {
      this.#isProbing = false
    }
  }

  #newItem(found: Versioned): Item {
    const item = new Item(this.home, found)
    const own = this.#ownWrites.take(found.key, found.revision)
    if (own === undefined) this.#parts.slabs.put(item, found.value)
    else item.setWire(own.object, own.wire)
    return item
  }
}
