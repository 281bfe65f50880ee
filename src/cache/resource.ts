/**
 * One resource in memory: its current objects, its recent events, its watchers. It holds nothing until somebody asks; then
 * it lists itself once and follows the feed. What it shows is never older than it says.
 *
 * `idle`: no objects. `filling`: the first list is under way. `live`: follows the feed. `behind`: events were lost, the
 * watchers were let go, a new list is under way; until it is there the old state is shown only to who does not mind.
 */
import { assert } from '../lib/assert.ts'
import type { Log } from '../lib/log.ts'
import { Slices } from '../lib/slices.ts'
import { inTime, type InTime, sleep, type Time } from '../lib/timers.ts'
import type { Engine, FeedEvent, Key, Revision, Versioned } from '../storage/engine.ts'
import { isCode, StorageError } from '../storage/errors.ts'
import { type KeyRange, rangeOf } from '../storage/keys.ts'
import type { Store } from '../storage/store.ts'
import type { Transformer } from '../storage/transform.ts'
import { Change } from './event.ts'
import { FieldIndexes, type IndexLimits } from './field-index.ts'
import type { HistoryBudget } from './history.ts'
import type { Shelf } from './made.ts'
import { type Form, Item, type ItemHome, type Wire } from './item.ts'
import { Own } from './own.ts'
import { Ring } from './ring.ts'
import type { Following, SharedFeed } from './shared-feed.ts'
import type { DecodedShelf } from './shelf.ts'
import type { Slabs } from './slabs.ts'
import { type IndexedValue, type KeySet, newTree, type Tree } from './tree.ts'
import { type Version, Versions } from './versions.ts'
import { Waker } from './wake.ts'
import type { Watcher, WatchSource } from './watch.ts'
import { WatchGroups } from './watch-groups.ts'

/** Events kept aside while a list is under way; with more the list is begun again. */
const PENDING_BYTES_MAX = 64 << 20
/** What an event takes besides the bytes of the object it replaced. */
const EVENT_BYTES = 200
/** No write is acknowledged later: a call of the database has a deadline of seconds, whatever --request-timeout says. */
const WRITE_MS_MAX = 60_000
const RETRY_MIN_MS = 50
const RETRY_MAX_MS = 2_000

export type ResourceSpec = Form & {
  /** For messages: `configmaps`. */
  readonly name: string
  /** Ends in a slash. */
  readonly prefix: Key
  /** Tells apart what is stored once and served in several versions. */
  readonly version?: string
}

/** What all resources of a cache share. */
export type Parts = {
  readonly engine: Engine
  readonly store: Store
  readonly transformer: Transformer
  readonly feed: SharedFeed
  readonly slabs: Slabs
  readonly decoded: DecodedShelf
  readonly frames: Shelf
  /** Events, over all resources: a quiet one loses nothing by the others but speed, since the database has its history. */
  readonly past: Shelf
  /** A number that nothing else of the process has. */
  readonly newListing: () => number
  readonly histories: HistoryBudget
  readonly indexes: IndexLimits
  /** How long a watch waits for its resource. */
  readonly watchReadyMs: number
  readonly time: Time
  readonly log: Log
}

type Phase =
  | { readonly phase: 'idle' }
  | ({ readonly phase: 'filling' | 'behind'; readonly pending: Pending } & Listing)
  | { readonly phase: 'live' }
  | { readonly phase: 'closed' }

/** A list under way: `giveUp` ends the waiting for it, whatever becomes of it. */
type Listing = { readonly done: Promise<void>; readonly giveUp: () => void }

/** What the feed told while a list was under way; `isLost` when it was too much, or itself had a gap. */
type Pending = {
  readonly events: { readonly key: Key; readonly item: Item | undefined; readonly revision: Revision }[]
  bytes: number
  isLost: boolean
}

type Loaded = { readonly tree: Tree; readonly revision: Revision }

export class Resource {
  readonly spec: ResourceSpec
  readonly range: KeyRange
  readonly home: ItemHome
  readonly #parts: Parts
  /** Who waits looks again then. */
  readonly #late: InTime<void>
  readonly #watchers = new Set<Watcher>()
  readonly #waker: Waker
  readonly #indexes: FieldIndexes | undefined
  #own = new Own()
  #phase: Phase = { phase: 'idle' }
  #subscription: Following | undefined
  #tree: Tree = newTree()
  #ring = this.#newRing(0)
  #versions: Versions
  #groups: WatchGroups
  /** A copy of the tree for whoever needs one that stays; gone with the next change. */
  #current: Version | undefined
  #listing = 0
  /** The revision of the last list; the feed's is used beyond it. */
  #listed: Revision = 0
  #usedAtMs = 0

  constructor(spec: ResourceSpec, parts: Parts) {
    this.spec = spec
    this.range = rangeOf(spec.prefix)
    this.#parts = parts
    this.#late = { late: () => undefined, timers: parts.time }
    this.#waker = new Waker(parts.time)
    this.#versions = new Versions(this.#ring, parts.time)
    this.#groups = new WatchGroups(this.#ring, parts.time)
    const current = () => ({ tree: this.#tree, ring: this.#ring, range: this.range })
    this.#indexes = spec.facts && new FieldIndexes(spec.facts, current, parts.time, parts.indexes)
    this.home = {
      form: spec,
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

  /** A call, not a comparison: it may have become true during any await. */
  isClosed(): boolean {
    return this.#phase.phase === 'closed'
  }

  get phase(): Phase['phase'] {
    return this.#phase.phase
  }

  get tree(): Tree {
    return this.#tree
  }

  get ring(): Ring {
    return this.#ring
  }

  /** The keys of all objects that have these values now, and of few others; undefined if no index can tell in this turn. */
  having(by: readonly IndexedValue[]): KeySet | undefined {
    return this.#indexes?.find(by)?.clone()
  }

  /** No index led to these values, and so many objects were looked at in vain. */
  noteScan(by: readonly IndexedValue[], looks: number): void {
    this.#indexes?.noteScan(by, looks)
  }

  /** Names the list that it began with: with a revision it names a state, also where two databases have the same revisions. */
  get listing(): number {
    return this.#listing
  }

  get watcherCount(): number {
    return this.#watchers.size
  }

  /** Since when nobody has used it; undefined while somebody watches or a list is under way. */
  get unusedSinceMs(): number | undefined {
    return this.#watchers.size > 0 || this.#phase.phase !== 'live' ? undefined : this.#usedAtMs
  }

  /** The objects there are to show without waiting. */
  known(): Tree | undefined {
    this.#usedAtMs = this.#parts.time.monotonicMs()
    return this.#phase.phase === 'live' || this.#phase.phase === 'behind' ? this.#tree : undefined
  }

  /** Makes sure that there are objects to show, unless it is closed. True if they were listed just now, after the call. */
  async ensure(): Promise<boolean> {
    this.#usedAtMs = this.#parts.time.monotonicMs()
    const { phase } = this.#phase
    if (phase === 'live' || phase === 'behind' || phase === 'closed') return false
    const isFirst = this.#phase.phase === 'idle'
    await (this.#phase.phase === 'idle' ? this.#begin() : this.#phase.done)
    return isFirst
  }

  /** True once the resource follows the feed; false if that takes too long: without the database it never will. */
  async live(timeoutMs: number): Promise<boolean> {
    const until = this.#parts.time.monotonicMs() + timeoutMs
    this.#usedAtMs = this.#parts.time.monotonicMs()
    while (this.#phase.phase !== 'live') {
      const leftMs = until - this.#parts.time.monotonicMs()
      if (leftMs <= 0) return false
      if (this.#phase.phase === 'closed') throw new StorageError('unavailable', 'the cache is closed')
      await inTime(this.#phase.phase === 'idle' ? this.#begin() : this.#phase.done, leftMs, this.#late)
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
      if (phase === 'filling' || phase === 'behind') await inTime(this.#phase.done, leftMs, this.#late)
      else if (phase !== 'live' || !(await this.#subscription?.reach(revision, leftMs))) return false
    }
    return true
  }

  /** The state at a revision that the resource has reached; undefined if that is too long ago. */
  async stateAt(revision: Revision): Promise<Version | undefined> {
    // What has no objects has no past, either.
    if (this.known() === undefined) return undefined
    return this.#versions.at(revision, () => this.version())
  }

  /** The current state, which stays as it is. */
  version(): Version {
    const ring = this.#ring
    this.#current ??= { ring, position: ring.end, tree: this.#tree.clone(), counts: new Map(), found: new Map() }
    return this.#current
  }

  /** This state will be asked for again. */
  keep(version: Version): void {
    this.#versions.keep(version)
  }

  /** For the writer of a version: the feed will bring it, and need not read it again. */
  expect(key: Key, revision: Revision, object: Parameters<Item['setWire']>[0], wire: Wire): void {
    // What was written to the database before this one may be acknowledged late, with a revision that means another version here.
    if (this.#parts.time.monotonicMs() < this.#parts.feed.lifeSinceMs + WRITE_MS_MAX) return
    this.#parts.feed.noteWrite(revision)
    if (this.#phase.phase === 'idle' || this.#phase.phase === 'closed') return
    // Mostly the answer comes before the event: then there is nothing to look for.
    const current = revision > this.revision ? undefined : this.#tree.get(key)
    if (current?.revision === revision) current.setWire(object, wire)
    else if (current === undefined || current.revision < revision) this.#own.add({ key, revision, object, wire })
  }

  /** `by`: the watcher wants only objects that have the values; it is woken for the first of them. */
  watchSource([by]: readonly IndexedValue[] = []): WatchSource {
    const ring = this.#ring
    const groups = this.#groups
    const valueOf = by && this.#indexes?.readerOf(by)
    const group = by && valueOf && groups.join(by, valueOf)
    const waker = group?.waker ?? this.#waker
    return {
      ring,
      frames: this.#parts.frames,
      soon: this.#parts.time.soon,
      revision: () => this.revision,
      next: group === undefined ? (position) => (position < ring.first ? undefined : position) : (at) => group.next(at),
      sleep: (watcher) => waker.sleep(watcher),
      leave: (watcher) => {
        this.#watchers.delete(watcher)
        waker.forget(watcher)
        if (by !== undefined && group !== undefined) groups.leave(by, group)
        this.#usedAtMs = this.#parts.time.monotonicMs()
      },
    }
  }

  join(watcher: Watcher): void {
    this.#watchers.add(watcher)
  }

  /** Of the housekeeper. */
  endTurn(): void {
    for (const watcher of this.#watchers) watcher.endTurn()
    this.#indexes?.endTurn()
    this.#groups.endTurn()
  }

  /** An item that lives outside of the cache, for one reader. */
  looseItem = (found: Versioned): Item => {
    const { slabs } = this.#parts
    const item = new Item({ ...this.home, put: (slot, bytes, facts) => slabs.putLoose(slot, bytes, facts) }, found)
    slabs.putLoose(item, found.value)
    return item
  }

  /** Lets go of all objects. */
  drop(): void {
    assert(this.#watchers.size === 0, 'a watched resource is not dropped')
    this.#unsubscribe()
    this.#release()
    this.spec.facts?.forgetWords()
    this.#phase = { phase: 'idle' }
  }

  /** What it shows is not what the database has: it lists itself again. */
  distrust(): void {
    if (this.#phase.phase === 'live') this.#onGap()
  }

  /** Ends for good. `keepsBytes`: the whole cache ends, so nobody needs the slabs to be tidy. */
  close({ keepsBytes = false } = {}): void {
    for (const watcher of this.#watchers) watcher.close('shutdown')
    this.#unsubscribe()
    const before = this.#phase
    if (!keepsBytes) {
      if ('pending' in before) this.#forget(before.pending)
      this.#release()
    }
    this.#phase = { phase: 'closed' }
    // The database may hang.
    if ('giveUp' in before) before.giveUp()
  }

  #unsubscribe(): void {
    this.#subscription?.end()
    this.#subscription = undefined
  }

  #release(): void {
    const ring = this.#ring
    this.#parts.slabs.releaseAll((release) => {
      this.#tree.forEachPair((_, item) => release(item))
      for (let at = ring.first; at < ring.end; at++) {
        const previous = ring.at(at)?.previous
        if (previous !== undefined) release(previous)
      }
    })
    while (ring.end > ring.first) ring.drop()
    this.#own = new Own()
    this.#indexes?.clear()
    this.#show(newTree(), 0)
  }

  /** A state of which no past is known. */
  #show(tree: Tree, revision: Revision): void {
    this.#tree = tree
    this.#current = undefined
    this.#ring = this.#newRing(revision)
    this.#versions = new Versions(this.#ring, this.#parts.time)
    this.#groups = new WatchGroups(this.#ring, this.#parts.time)
    this.#listed = revision
    this.#listing = this.#parts.newListing()
  }

  #releaseTree(tree: Tree): void {
    this.#parts.slabs.releaseAll((release) => tree.forEachPair((_, item) => release(item)))
  }

  #begin(): Promise<void> {
    const subscription = this.#parts.feed.subscribe(this.spec.prefix, {
      onEvents: (events) => this.#onEvents(events),
      onGap: () => this.#onGap(),
      onReset: () => this.#onReset(),
    })
    this.#subscription = subscription
    const pending: Pending = { events: [], bytes: 0, isLost: false }
    const filled = this.#fill(pending).catch((error: unknown) => {
      this.#forget(pending)
      if (!this.isClosed()) this.drop()
      throw error
    })
    const listing = toListing(filled)
    this.#phase = { phase: 'filling', pending, ...listing }
    return listing.done
  }

  /** Lists, and begins again when events are lost meanwhile. */
  async #fill(pending: Pending): Promise<void> {
    for (;;) {
      const loaded = await this.#load(pending)
      // From here on nothing may await: pending events and the feed's next ones must meet.
      if (loaded !== undefined && !pending.isLost && !this.isClosed()) {
        this.#goLive(loaded, pending)
        return
      }
      if (loaded !== undefined) this.#releaseTree(loaded.tree)
      this.#forget(pending)
      if (this.isClosed()) throw new StorageError('unavailable', 'the cache is closed')
    }
  }

  #goLive({ tree, revision }: Loaded, pending: Pending): void {
    this.#release()
    this.#show(tree, revision)
    this.#phase = { phase: 'live' }
    for (const event of pending.events) {
      if (event.revision > revision) this.#apply(event)
      else if (event.item !== undefined) this.#parts.slabs.release(event.item)
    }
    this.#waker.wake()
  }

  /** The whole resource at one revision; undefined if it must be listed again. */
  async #load(pending: Pending): Promise<Loaded | undefined> {
    const tree = newTree()
    let loaded: Loaded | undefined
    try {
      const revision = await this.#walkInto(tree, pending)
      if (revision !== undefined) loaded = { tree, revision }
    } catch (error) {
      // What the first page was of may be no more: another database, or compacted before the last page.
      if (!pending.isLost && !isCode(error, 'compacted')) throw error
    } finally {
      if (loaded === undefined) this.#releaseTree(tree)
    }
    return loaded
  }

  /** Undefined if events were lost meanwhile. */
  async #walkInto(tree: Tree, pending: Pending): Promise<Revision | undefined> {
    let revision: Revision | undefined
    const slices = new Slices(this.#parts.time)
    const { feed, store } = this.#parts
    const { known } = feed
    for await (const page of store.walk(this.range, { readsAhead: true })) {
      // Of another database the feed, which has not seen that yet, would take this revision for an old one.
      if (revision === undefined) feed.noteRead(page.revision, known)
      revision = page.revision
      for (const stored of page.values) {
        tree.set(stored.key, this.#newItem(stored))
        if (slices.isOver) await slices.turn()
      }
      if (pending.isLost || this.isClosed()) return undefined
    }
    return pending.isLost ? undefined : revision
  }

  #forget(pending: Pending): void {
    this.#parts.slabs.releaseAll((release) => {
      for (const { item } of pending.events) if (item !== undefined) release(item)
    })
    pending.events.length = 0
    pending.bytes = 0
    pending.isLost = false
  }

  /**
   * What a watcher has seen is true, what comes next is not known: it is let go, and its client comes back with the revision
   * it knows. If the history after that is still there, here or in the database, it misses nothing; if not, it lists.
   */
  #onGap(): void {
    if (this.#phase.phase === 'filling' || this.#phase.phase === 'behind') {
      this.#phase.pending.isLost = true
      return
    }
    if (this.#phase.phase !== 'live') return
    this.#listed = this.revision
    for (const watcher of this.#watchers) watcher.close('gap')
    const pending: Pending = { events: [], bytes: 0, isLost: false }
    this.#phase = { phase: 'behind', pending, ...toListing(this.#catchUp(pending)) }
  }

  /** Nothing that it has is of this database: the next reader lists it, and a list under way begins again. */
  #onReset(): void {
    for (const watcher of this.#watchers) watcher.close('gap')
    if (this.#phase.phase === 'live') this.drop()
    if (!('pending' in this.#phase)) return
    this.#phase.pending.isLost = true
    this.#release()
    this.#phase = { ...this.#phase, phase: 'filling' }
  }

  async #catchUp(pending: Pending): Promise<void> {
    const from = this.#listed
    for (let waitMs = RETRY_MIN_MS; !this.isClosed(); waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
      try {
        await this.#fill(pending)
        this.#parts.log('info', 'resource listed again', { resource: this.spec.name, from, to: this.#listed })
        return
      } catch (error) {
        const fields = { resource: this.spec.name, error: String(error) }
        this.#parts.log('warn', 'resource cannot be listed again yet', fields)
        await sleep(this.#parts.time, waitMs)
      }
    }
  }

  #onEvents(events: readonly FeedEvent[]): void {
    if (this.#phase.phase === 'idle' || this.#phase.phase === 'closed') return
    for (const event of events) {
      // A list can be ahead of the feed: what it showed is not told again.
      if (event.revision <= this.#listed) continue
      const item = event.type === 'put' ? this.#newItem(this.#opened(event)) : undefined
      if (this.#phase.phase === 'live') this.#apply({ key: event.key, item, revision: event.revision })
      else this.#setAside(this.#phase.pending, { key: event.key, item, revision: event.revision })
    }
    this.#waker.wake()
    this.#groups.wake()
  }

  #setAside(pending: Pending, event: Pending['events'][number]): void {
    pending.bytes += event.item?.length ?? event.key.length
    if (pending.bytes > PENDING_BYTES_MAX) pending.isLost = true
    if (!pending.isLost) pending.events.push(event)
    else if (event.item !== undefined) this.#parts.slabs.release(event.item)
  }

  #apply(event: Pending['events'][number]): void {
    const previous = this.#tree.get(event.key)
    if (event.item === undefined && previous === undefined) return
    this.#record(new Change({ ...event, previous }))
  }

  #record(change: Change): void {
    this.#current = undefined
    // Who writes next begins with the new version; the old one is only shown, which takes its bytes.
    if (change.previous !== undefined) change.previous.decoded = undefined
    if (change.item === undefined) this.#tree.delete(change.key)
    else this.#tree.set(change.key, change.item)
    this.#ring.push(change)
    this.#parts.past.add(this.#ring, EVENT_BYTES + (change.previous?.length ?? 0))
  }

  #newRing(completeAfter: Revision): Ring {
    return new Ring(completeAfter, (change, first) => {
      if (change.previous !== undefined) this.#parts.slabs.release(change.previous)
      this.#versions.forgetBefore(first)
    })
  }

  /** What the feed brings must stay in order, so a transformer that has to ask somebody first cannot be used here. */
  #opened(event: FeedEvent): Versioned {
    const { key, revision, createRevision } = event
    try {
      const plain = this.#parts.transformer.fromStorage(key, event.value)
      assert(!(plain instanceof Promise), 'the feed opens values at once')
      return { key, revision, createRevision, value: plain.value }
    } catch (error) {
      // An unreadable value is an object like others, until somebody wants to see it.
      if (error instanceof StorageError) return event
      throw error
    }
  }

  #newItem(found: Versioned): Item {
    const item = new Item(this.home, found)
    const own = this.#own.take(found.key, found.revision)
    if (own === undefined) this.#parts.slabs.put(item, found.value)
    else item.setWire(own.object, own.wire)
    return item
  }
}

function toListing(work: Promise<void>): Listing {
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  work.then(resolve, reject)
  return { done, giveUp: resolve }
}
