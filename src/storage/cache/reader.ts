/**
 * How the rest of the server reads a resource: one object, a list or a watch, each as new as requested. 'latest' means everything that
 * was acknowledged to anybody before the call: the revision is proven once for all concurrent callers, then the answer comes from memory.
 * If memory cannot answer in time, the database is queried; if that fails, the read fails. No answer is staler than requested.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Wire } from '../../objects/codec/object.ts'
import { Slices } from '../../lib/slices.ts'
import type { Key, Revision } from '../engine.ts'
import { isCode, StorageError } from '../errors.ts'
import { keyAfter, type KeyRange } from '../keys.ts'
import { doesNotFit, OutOfRoom } from './ceiling.ts'
import type { ObjectChange } from './event.ts'
import { type History, readHistory } from './history.ts'
import type { Item, Matches } from './item.ts'
import { RefusedLists } from './refused-lists.ts'
import type { Parts, CachedResource, ResourceSpec } from './resource.ts'
import {
  type IndexedValue,
  type KeySet,
  named,
  type Selected,
  type Selection,
  select,
  type Tree,
} from './tree.ts'
import type { Snapshot } from './snapshots.ts'
import { type EventSource, Watcher, type WatchFilter, type WatchStart } from './watch.ts'

/** How long a read waits for a revision, as upstream does. */
export const REACH_MS = 3_000
/** A single history read nearly always ends where the ring begins; if the ring has moved on so often, the client is told to list. */
const HISTORY_TRIES = 3
/**
 * Each try fails because the resource was listed again, or its ring moved on, between the last wait and the start: more than once is no
 * coincidence.
 */
const WATCH_TRIES = 5
/**
 * A try fails if the database is compacted during it, which happens every few minutes: two in a row mean that the database is too slow to
 * be read whole.
 */
const STORE_TRIES = 3

/** How new an answer must be. 'any': whatever is in memory. */
export type At = 'any' | 'latest' | { readonly atLeast: Revision } | { readonly exactly: Revision }

export type Listed = Selected & {
  /** The revision at which the list is true. */
  readonly revision: Revision
  /** Identifies the state among all that this process has served; absent if the answer did not come from memory. */
  readonly state?: string
  /** The bytes of the objects, if they are in memory for this list alone. */
  readonly ownBytes?: number
}

/** 'gone': it was told as unreadable, and is deleted. One that can be read again is an event of the watch. */
export type OnUnreadable = (key: Key, state: 'unreadable' | 'gone') => void

export type WatchOptions = {
  readonly range: KeyRange
  /** Begin with the existing objects, or with the events after a revision. */
  readonly start:
    | {
        readonly initial: 'any' | 'latest' | { readonly atLeast: Revision }
        readonly markEnd?: boolean
      }
    | { readonly after: Revision }
  readonly matches?: Matches | undefined
  /** As in a selection. */
  readonly by?: Selection['by']
  /** The client; empty: the server itself. History reads are limited per client. */
  readonly client?: string
  /**
   * Called with the key of each object that cannot be decrypted, those that exist at the start among them. Without it, a watch that begins
   * with the existing objects is refused if one of them cannot be: its client would take it for complete.
   */
  readonly onUnreadable?: OnUnreadable
}

export type Got = {
  readonly revision: Revision
  readonly item: Item | undefined
  /** What is stored cannot be decrypted; the item is of a time when it could be. */
  readonly isUnreadable?: boolean
}

/** The reader, for callers that do not care where objects come from. */
export type ObjectReader = Pick<Reader, 'known' | 'get' | 'list' | 'expect'> & {
  readonly watch: (options: WatchOptions) => Promise<EventSource>
}

/** A tree with the state at the revision, at least until the end of this turn of the event loop. */
type State = {
  readonly tree: Tree
  readonly revision: Revision
  /** The resource's `listing` when the state was taken. */
  readonly listing: number
  readonly isCurrent: boolean
  /** The `found` of a snapshot that earlier pages were served from. */
  readonly found?: Snapshot['found']
}

/** What led to the objects of a list, as metrics name it. */
function indexName({ name, by = [] }: Selection, among: KeySet | undefined): string {
  if (among === undefined) return ''
  const [first] = by
  if (name !== undefined || first === undefined) return 'name'
  return 'field' in first ? `f:${first.field}` : 'label'
}

export class Reader {
  readonly #resource: CachedResource
  readonly #parts: Parts
  /** History reads under way, by the revision they begin after: a watch that resumes from a later one shares the read. */
  readonly #histories = new Map<Revision, SharedHistory>()
  readonly #refused: RefusedLists
  /** Of an object, as the last list from the database found them. */
  #rowBytes: number | undefined

  constructor(resource: CachedResource, parts: Parts) {
    this.#refused = new RefusedLists(parts.time)
    this.#resource = resource
    this.#parts = parts
  }

  /** What is in memory, however old; undefined if the caller would have to wait for it. */
  known(): Tree | undefined {
    return this.#resource.known()
  }

  /**
   * Brings all objects into memory in their wire form, so that the first client does not wait for that. `make` makes what else is likely
   * to be requested.
   */
  async fill(make: (item: Item) => void): Promise<void> {
    if (this.#resource.isLeftOut) return
    await this.#resource.ensure()
    const slices = new Slices(this.#parts.time)
    for (const key of this.#resource.snapshot().tree.keys()) {
      const item = this.#resource.tree.get(key)
      if (item !== undefined && isReadable(item)) make(item)
      if (slices.isOver) await slices.turn()
    }
  }

  async get(key: Key, at: At): Promise<Got> {
    const wanted = at === 'latest' && this.#beginsFill() ? 'store' : this.#state(at)
    const state = this.#shown(typeof wanted === 'string' ? wanted : await orStore(wanted))
    if (state !== undefined) {
      const unreadable = this.#resource.unreadable.get(key)
      if (unreadable !== undefined && at !== 'any') throw unreadable.error
      return {
        revision: state.revision,
        item: state.tree.get(key),
        isUnreadable: unreadable !== undefined,
      }
    }
    const exactly = typeof at === 'object' && 'exactly' in at ? at.exactly : undefined
    const { revision, found } = await this.#parts.store.get(key, { revision: exactly })
    return { revision: exactly ?? revision, item: found && this.#resource.looseItem(found) }
  }

  async list(range: KeyRange, at: At, selection: Selection = {}): Promise<Listed> {
    const state = this.#shown(
      await this.#awaitedState(at).catch((error: unknown) =>
        throwUnlisted(error, this.#resource.spec),
      ),
    )
    if (state === undefined) {
      const read = (): Promise<Listed> => this.#fromStore(range, at, selection)
      return this.#resource.isLeftOut ? this.#inLine(read, selection.signal?.()) : read()
    }
    // A page is refused for what is in it.
    const isPage = (selection.limit ?? 0) > 0
    if (!isPage) this.#refuseUnreadable(range, at)
    const { revision } = state
    const name = `${state.listing}@${revision}`
    const { time } = this.#parts
    const { by = [] } = selection
    const among = this.#among(state, range, selection)
    // If there are more pages, they will request this very state.
    const snapshot = state.isCurrent && isPage ? this.#resource.snapshot() : undefined
    const parts = { time, counts: snapshot?.counts, among }
    const found = await select(snapshot?.tree ?? state.tree, range, selection, parts)
    const selected = isPage ? this.#withUnreadable(found, range, at, selection) : found
    const returned = selected.items.length
    this.#resource.counts.listed(
      indexName(selection, among),
      returned + (selected.refused ?? 0),
      returned,
    )
    if (by.length > 0 && among === undefined) this.#resource.noteScan(by, selected.refused ?? 0)
    if (snapshot !== undefined && selected.more) {
      // The keys that were found by name are not all keys with these values.
      if (among !== undefined && selection.name === undefined) keepFound(snapshot, by, among)
      this.#resource.keep(snapshot)
    }
    return { revision, state: name, ...selected }
  }

  /** The keys of the objects that can match, if that is known without scanning. */
  #among(
    { tree, isCurrent, found }: State,
    range: KeyRange,
    { name, by = [] }: Selection,
  ): KeySet | undefined {
    if (name !== undefined) return named(tree, range, name)
    if (by.length === 0) return undefined
    return isCurrent ? this.#resource.having(by) : found?.get(questionOf(by))
  }

  /** Fails with 'compacted' if the events after the revision are gone, and with 'too-new' if the revision is not reached in time. */
  async watch(options: WatchOptions): Promise<Watcher> {
    const filter = { range: options.range, matches: options.matches }
    for (let tries = 0; tries < WATCH_TRIES; tries++) {
      const ready = await this.#ready(options)
      if (ready === undefined) return this.#ended(filter)
      // No await from here to the join, so that no event is lost or duplicated in between.
      const start = this.#startOf(options, ready)
      if (start === undefined) {
        ready.release()
        continue
      }
      const { onUnreadable } = options
      if (onUnreadable === undefined && 'initial' in options.start) {
        try {
          this.#refuseUnreadable(options.range, options.start.initial)
        } catch (error) {
          ready.release()
          throw error
        }
      }
      const watcher = new Watcher(this.#resource.watchSource(options.by), filter, start)
      this.#resource.join(watcher, onUnreadable)
      return watcher
    }
    throw tooOld()
  }

  /** Undefined: the resource is closed. */
  async #ready({ start, client = '' }: WatchOptions): Promise<Earlier | undefined> {
    try {
      const ready = await ('after' in start
        ? this.#earlier(start.after, client)
        : this.#reached(start))
      if (!this.#resource.isClosed()) return ready
      ready.release()
      return undefined
    } catch (error) {
      if (this.#resource.isClosed()) return undefined
      throw error
    }
  }

  /** A closed watch, as if the definition had changed a moment later: the client watches again, under the new definition. */
  #ended(filter: WatchFilter): Watcher {
    const start = {
      initial: undefined,
      earlier: [],
      earlierAt: 0,
      onReplayed: nothingEarlier.release,
    }
    const source = this.#resource.watchSource()
    const watcher = new Watcher(source, filter, {
      ...start,
      position: 0,
      seen: 0,
      told: 0,
      markInitialEnd: false,
    })
    watcher.close('shutdown')
    return watcher
  }

  /** For the writer of a version, which already has its wire form: the cache need not decode it again. Undefined: it is not to be kept. */
  expect(key: Key, revision: Revision, object: KubeObject | undefined, wire: Wire): void {
    this.#resource.expect(key, revision, object, wire)
  }

  /**
   * Waits for the requested state, unless anything in memory will do. The current one is taken by `#shown`, in the same turn as it is used,
   * since it would move on during an await. 'store': memory cannot answer, the database may.
   */
  #state(at: At): 'current' | Promise<'current' | 'store' | State> {
    return at === 'any' && this.#resource.isFilled ? 'current' : this.#awaitState(at)
  }

  async #awaitedState(at: At): Promise<'current' | 'store' | State> {
    return this.#state(at)
  }

  /** A list that hides an object would be a lie. */
  #refuseUnreadable(range: KeyRange, at: At): void {
    const { unreadable, spec } = this.#resource
    if (unreadable.size === 0) return
    const fault = unreadable.listFault(range, { isLatest: at !== 'any', kind: kindOf(spec) })
    if (fault !== undefined) throw fault
  }

  /** What cannot be read is in the page, which is refused, or behind it: then it is not the last one. */
  #withUnreadable(page: Selected, range: KeyRange, at: At, { limit = 0 }: Selection): Selected {
    const { unreadable, spec } = this.#resource
    if (unreadable.size === 0) return page
    const last = page.items.length >= limit ? page.items.at(-1)?.key : undefined
    const end = last === undefined ? range.to : keyAfter(last)
    this.#refuseUnreadable({ from: range.from, to: end }, at)
    const rest = { from: end, to: range.to }
    const isMore =
      unreadable.listFault(rest, { isLatest: at !== 'any', kind: kindOf(spec) }) !== undefined
    return isMore ? { ...page, more: true, remaining: Math.max(page.remaining, 1) } : page
  }

  async #awaitState(at: At): Promise<'current' | 'store' | State> {
    const resource = this.#resource
    if (resource.isLeftOut) return this.#leftOut()
    try {
      const state = await this.#reachState(at)
      return resource.isClosed() ? 'store' : state
    } catch (error) {
      if (error instanceof OutOfRoom) return this.#leftOut()
      // The definition of the resource has changed: a request that began before that reads the database, under the old definition.
      if (resource.isClosed()) return 'store'
      throw error
    }
  }

  /** Whether the objects are not in memory yet. They are brought there; one of them is read from the database sooner. */
  #beginsFill(): boolean {
    const resource = this.#resource
    if (resource.isFilled || resource.isLeftOut || resource.isClosed()) return false
    // Told to whoever waits for it.
    resource.ensure().catch(() => undefined)
    return true
  }

  #leftOut(): 'store' {
    this.#parts.ceiling.storeReads++
    return 'store'
  }

  async #reachState(at: At): Promise<'current' | 'store' | State> {
    const resource = this.#resource
    const isFresh = resource.isFilled ? false : await resource.ensure()
    if (at === 'any') return 'current'
    if (at === 'latest') {
      if (isFresh) return 'current'
      return this.#reachLatest()
    }
    if ('exactly' in at) return this.#stateAt(at.exactly)
    if (!(await resource.reach(at.atLeast, REACH_MS))) throw tooNew(at.atLeast, resource.revision)
    return 'current'
  }

  async #reachLatest(): Promise<'current' | 'store'> {
    const resource = this.#resource
    const { counts } = resource
    const { monotonicMs } = this.#parts.time
    const startMs = monotonicMs()
    const revision = await this.#parts.feed.prove()
    const hasReached = resource.revision >= revision || (await resource.reach(revision, REACH_MS))
    counts.readWait.observe((monotonicMs() - startMs) / 1000)
    if (hasReached) counts.consistent++
    else counts.fellBack++
    return hasReached ? 'current' : 'store'
  }

  /** Undefined: the resource has dropped its objects meanwhile, or cannot answer. */
  #shown(state: 'current' | 'store' | State): State | undefined {
    if (typeof state === 'object') return state
    const tree = state === 'current' ? this.#resource.known() : undefined
    const { revision, listing } = this.#resource
    return tree && { tree, revision, listing, isCurrent: true }
  }

  async #stateAt(revision: Revision): Promise<'store' | State> {
    const resource = this.#resource
    if (resource.revision < revision) {
      const newest = await this.#parts.feed.prove()
      if (newest < revision) throw tooNew(revision, newest)
      if (!(await resource.reach(revision, REACH_MS))) return 'store'
    }
    const { listing } = resource
    // Only the database knows which of them could be read at that time.
    const snapshot = resource.wasReadable(revision) ? await resource.stateAt(revision) : undefined
    if (snapshot === undefined) return 'store'
    const { tree, found } = snapshot
    return { tree, revision, listing, isCurrent: false, found }
  }

  /** Who has gone leaves the line. */
  async #inLine(read: () => Promise<Listed>, signal: AbortSignal | undefined): Promise<Listed> {
    try {
      return await this.#parts.ceiling.storeLists.run(read, signal)
    } catch (error) {
      throw signal?.aborted === true && !(error instanceof StorageError) ? cancelled(error) : error
    }
  }

  /**
   * A caller that names no revision need not know that the revision of the first page was compacted before the last page: the list is
   * read again.
   */
  async #fromStore(range: KeyRange, at: At, selection: Selection): Promise<Listed> {
    if (typeof at === 'object' && 'exactly' in at)
      return this.#walkStore(range, at.exactly, selection)
    const holdAgain = heldOnce(selection.hold)
    for (let tries = 1; ; tries++) {
      try {
        const found = await this.#walkStore(range, undefined, { ...selection, hold: holdAgain() })
        if (typeof at === 'object' && found.revision < at.atLeast)
          throw tooNew(at.atLeast, found.revision)
        return found
      } catch (error) {
        if (!isCode(error, 'compacted') || tries === STORE_TRIES) throw error
      }
    }
  }

  async #walkStore(
    range: KeyRange,
    exactly: Revision | undefined,
    { limit = 0, matches, hold, signal }: Selection,
  ): Promise<Listed> {
    const aborting = signal?.()
    const items: Item[] = []
    let ownBytes = 0
    // How much of it a selector leaves is not known.
    let aheadBytes = matches === undefined ? this.#refused.needs(range, limit) : 0
    // Not in one piece, which is given to who has nothing else, however much it is.
    if (aheadBytes > 0 && (hold?.(1) === false || hold?.(aheadBytes - 1) === false))
      throw tooLong(this.#resource.spec.name)
    const holdMore = (bytes: number): boolean => {
      const more = Math.max(0, bytes - aheadBytes)
      aheadBytes = Math.max(0, aheadBytes - bytes)
      if (more === 0 || hold?.(more) !== false) return true
      if (matches === undefined) this.#refused.refuse(range, limit, ownBytes + bytes)
      return false
    }
    let revision = exactly
    let from = range.from
    const { fromStore } = this.#resource.counts
    fromStore.lists++
    const slices = new Slices(this.#parts.time)
    for await (const page of this.#parts.store.walk(range, {
      revision,
      signal: aborting,
      rowBytes: this.#rowBytes,
    })) {
      revision = page.revision
      let pageBytes = 0
      for (const { value } of page.values) pageBytes += value.length
      if (page.values.length > 0) this.#rowBytes = pageBytes / page.values.length
      slices.begin()
      fromStore.fetched += page.values.length
      for (const [i, stored] of page.values.entries()) {
        if (slices.isOver) await slices.turn()
        if (aborting?.aborted === true) throw cancelled(aborting.reason)
        const item = this.#resource.looseItem(stored)
        fromStore.evaluated++
        if (matches !== undefined && !matches(item)) continue
        if (!holdMore(stored.value.length)) throw tooLong(this.#resource.spec.name)
        ownBytes += stored.value.length
        items.push(item)
        fromStore.returned++
        from = stored.key
        if (items.length !== limit) continue
        const remaining = page.remaining + page.values.length - 1 - i
        return { revision, items, more: remaining > 0, remaining, ownBytes }
      }
    }
    if (revision === undefined)
      throw new StorageError('unavailable', `the database told nothing after ${from}`)
    return { revision, items, more: false, remaining: 0, ownBytes }
  }

  /** Waits until the objects are as new as requested. */
  async #reached({
    initial,
  }: Extract<WatchOptions['start'], { initial: unknown }>): Promise<Earlier> {
    const resource = this.#resource
    const isFresh = resource.phase === 'idle'
    await this.#live()
    const needed =
      initial === 'any'
        ? 0
        : initial !== 'latest'
          ? initial.atLeast
          : isFresh
            ? 0
            : await this.#parts.feed.prove()
    if (!(await resource.reach(needed, REACH_MS))) throw tooNew(needed, resource.revision)
    return { ...nothingEarlier, until: needed }
  }

  async #live(): Promise<void> {
    try {
      if (await this.#resource.live(this.#parts.watchReadyMs)) return
    } catch (error) {
      if (error instanceof OutOfRoom) throw doesNotFit(this.#resource.spec.name)
      throw error
    }
    throw new StorageError(
      'unavailable',
      `${this.#resource.spec.name} cannot be listed at the moment`,
    )
  }

  /** The events after a revision that are no longer in the ring. */
  async #earlier(after: Revision, client: string): Promise<Earlier> {
    await this.#live()
    if (this.#parts.feed.isLost(after, this.#resource.revision)) throw tooOld()
    let earlier: Earlier = { ...nothingEarlier, until: after }
    try {
      for (let tries = 0; !this.#resource.ring.reachesBackTo(earlier.until); tries++) {
        if (tries === HISTORY_TRIES) throw tooOld()
        earlier = joined(earlier, await this.#history(earlier.until, client))
      }
      return earlier
    } catch (error) {
      earlier.release()
      throw error
    }
  }

  /** Undefined if the resource is being listed again, or its ring has moved on. */
  #startOf(
    { start, range, by }: WatchOptions,
    { changes, at, until, release }: Earlier,
  ): WatchStart | undefined {
    const { phase, ring, revision, tree } = this.#resource
    if (phase !== 'live') return undefined
    if (!('after' in start)) {
      const among = by && this.#resource.having(by)
      const initial =
        among === undefined ? itemsIn(tree.clone(), range) : itemsAmong(among, tree.clone(), range)
      const markInitialEnd = start.markEnd ?? false
      const replay = { earlier: changes, earlierAt: at, onReplayed: release }
      return {
        initial,
        ...replay,
        position: ring.end,
        seen: revision,
        told: revision,
        markInitialEnd,
      }
    }
    if (!ring.reachesBackTo(until)) return undefined
    const position = ring.positionAfter(until)
    const replay = { earlier: changes, earlierAt: at, onReplayed: release }
    return {
      initial: undefined,
      ...replay,
      position,
      seen: start.after,
      told: until,
      markInitialEnd: false,
    }
  }

  /** Shared by all watches that need it meanwhile; its bytes are given back when the last of them has released it. */
  async #history(after: Revision, client: string): Promise<Earlier> {
    const shared = this.#findHistory(after) ?? this.#beginHistory(after, client)
    shared.holders++
    const { changes, until, bytes } = await shared.read
    const release = (): void => {
      if (--shared.holders === 0) this.#parts.histories.giveBack(bytes)
    }
    return { changes, at: positionAfter(changes, after), until: Math.max(until, after), release }
  }

  #findHistory(after: Revision): SharedHistory | undefined {
    for (const [from, history] of this.#histories) if (from <= after) return history
    return undefined
  }

  #beginHistory(after: Revision, client: string): SharedHistory {
    const resource = this.#resource
    const { ring, spec } = resource
    const read = readHistory(this.#parts.engine, {
      prefix: spec.prefix,
      after,
      isEnough: (told) => ring.reachesBackTo(told),
      toItem: (stored) => {
        const opened = resource.open(stored)
        return opened && resource.looseItem(opened)
      },
      budget: this.#parts.histories,
      client,
      timers: this.#parts.time,
    }).finally(() => this.#histories.delete(after))
    const shared = { read, holders: 0 }
    this.#histories.set(after, shared)
    return shared
  }
}

/** Queries whose keys are kept per state; the pages of further ones are scanned. */
const FOUND_MAX = 100

function keepFound({ found }: Snapshot, by: readonly IndexedValue[], keys: KeySet): void {
  if ((found?.size ?? 0) < FOUND_MAX) found?.set(questionOf(by), keys)
}

const questionOf = (by: readonly IndexedValue[]): string => JSON.stringify(by)

type SharedHistory = { readonly read: Promise<History>; holders: number }

/** Events from before the ring, from the one at `at` on. */
type Earlier = {
  readonly changes: readonly ObjectChange[]
  readonly at: number
  readonly until: Revision
  /** Called once. */
  readonly release: () => void
}

const nothingEarlier = { changes: [], at: 0, release: (): void => undefined }

/** Nearly always the first is empty; if not, the ring has moved on while the first was read. */
function joined(first: Earlier, second: Earlier): Earlier {
  if (first.at === first.changes.length) {
    first.release()
    return second
  }
  const release = (): void => {
    first.release()
    second.release()
  }
  const changes = [...first.changes.slice(first.at), ...second.changes.slice(second.at)]
  return { changes, at: 0, until: second.until, release }
}

function positionAfter(changes: readonly ObjectChange[], revision: Revision): number {
  const at = changes.findIndex((change) => change.revision > revision)
  return at === -1 ? changes.length : at
}

function* itemsAmong(keys: KeySet, tree: Tree, range: KeyRange): Generator<Item, void, void> {
  for (const key of keys.keys(range.from)) {
    if (key >= range.to) return
    const item = tree.get(key)
    if (item !== undefined) yield item
  }
}

function* itemsIn(tree: Tree, range: KeyRange): Generator<Item, void, void> {
  // One array is reused for all entries: a hundred watchers may iterate over all objects.
  for (const [key, item] of tree.entries(range.from, [])) {
    if (key >= range.to) return
    yield item
  }
}

const kindOf = ({ goKind, name }: ResourceSpec): string => goKind ?? name

/** If the values cannot be decrypted at the moment, a single object can still be looked for in the database. */
async function orStore<T>(state: Promise<T | 'store'>): Promise<T | 'store'> {
  try {
    return await state
  } catch (error) {
    if (isCode(error, 'sealed')) return 'store'
    throw error
  }
}

/** What upstream says of a resource that cannot be listed into memory. */
function throwUnlisted(error: unknown, spec: ResourceSpec): never {
  if (!(error instanceof StorageError) || error.code !== 'sealed') throw error
  const message = `storage is (re)initializing: failed to list ${kindOf(spec)}: ${error.message}`
  throw new StorageError('busy', message, { cause: error })
}

const tooOld = (): StorageError =>
  new StorageError('compacted', 'the events after that revision are no longer kept')

const cancelled = (cause: unknown): StorageError =>
  new StorageError('cancelled', 'nobody waits for the list any more', { cause })

/** For a list that is read again: what an earlier try has held is not held a second time. Each try asks for its own. */
function heldOnce(hold: Selection['hold'] = () => true): () => NonNullable<Selection['hold']> {
  let heldBytes = 0
  return () => {
    let takenBytes = 0
    return (bytes) => {
      takenBytes += bytes
      if (takenBytes <= heldBytes) return true
      if (!hold(takenBytes - heldBytes)) return false
      heldBytes = takenBytes
      return true
    }
  }
}

/** All of a list is in memory before it is sent. What the cache has is shared by all lists, what is read for one is not. */
const tooLong = (name: string): StorageError =>
  new StorageError(
    'busy',
    `a list of ${name} from the database takes more memory than the server has for it now (--request-memory-max); ask for less by limit, or try again later`,
  )

const tooNew = (revision: Revision, bound: Revision): StorageError =>
  new StorageError('too-new', `Too large resource version: ${revision}, current: ${bound}`, {
    bound,
  })

/** Prints the item. An unreadable one is reported to the client that requests it. */
function isReadable(item: Item): boolean {
  try {
    item.wire()
    return true
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    return false
  }
}
