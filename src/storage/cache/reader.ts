/**
 * Serves the reads of one resource to the rest of the server: single objects, lists and watches,
 * each as recent as requested. Reads are served from memory if possible (fresh-state.ts), and
 * otherwise from the database. If the database cannot serve a read either, the read fails. No
 * result is older than requested.
 */
import type { KubeObject } from '../../api/object.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import type { Wire } from '../../objects/codec/object.ts'
import type { Key, Revision } from '../engine.ts'
import { isCode, StorageError } from '../errors.ts'
import type { KeyRange } from '../keys.ts'
import { type Freshness, type CacheState, FreshState } from './fresh-state.ts'
import type { Item } from './item.ts'
import { WatchOpener, type WatchOptions } from './open-watch.ts'
import { checkPage, kindOf, refuseUnreadable } from './refuse-unreadable.ts'
import type { CachedResourceOptions, ResourceSpec } from './resource-options.ts'
import type { CachedResource } from './resource.ts'
import type { Snapshot } from './snapshots.ts'
import { type ListResult, StoreLists } from './store-lists.ts'
import { type IndexedValue, type KeySet, named, type Selection, select, type Tree } from './tree.ts'
import type { EventSource, Watcher } from './watch.ts'

export type GetResult = {
  readonly revision: Revision
  readonly item: Item | undefined
  /**
   * Whether the stored value cannot be decrypted now. If there is an item nevertheless, the item
   * contains an object that was decrypted earlier.
   */
  readonly isUnreadable?: boolean
}

/** A reader for callers that do not depend on where the objects come from. */
export type ObjectReader = Pick<Reader, 'known' | 'get' | 'list' | 'expect'> & {
  readonly watch: (options: WatchOptions) => Promise<EventSource>
}

export class Reader {
  readonly #resource: CachedResource
  readonly #options: CachedResourceOptions
  readonly #freshState: FreshState
  readonly #storeLists: StoreLists
  readonly #watchOpener: WatchOpener

  constructor(resource: CachedResource, options: CachedResourceOptions) {
    this.#resource = resource
    this.#options = options
    this.#freshState = new FreshState(resource, options)
    this.#storeLists = new StoreLists(resource, options)
    this.#watchOpener = new WatchOpener(resource, options)
  }

  /**
   * Returns the objects in memory, no matter how old they are. Returns undefined if the caller
   * would have to wait for them.
   */
  known(): Tree | undefined {
    return this.#resource.known()
  }

  /**
   * Loads all objects into memory as JSON for clients, so that the first client does not wait for
   * this. `make` can create other forms that are likely to be requested.
   */
  async fill(make: (item: Item) => void): Promise<void> {
    if (this.#resource.reflector.isLeftOut) return
    await this.#resource.ensure()
    const slices = new Slices(this.#options.time)
    for (const key of this.#resource.snapshot().tree.keys()) {
      const item = this.#resource.tree.get(key)
      if (item !== undefined && isReadable(item)) make(item)
      if (slices.isOver) await slices.turn()
    }
  }

  async get(key: Key, at: Freshness): Promise<GetResult> {
    const freshState = this.#freshState
    const source = at === 'latest' && freshState.beginFill() ? 'store' : freshState.wait(at)
    const state = freshState.take(typeof source === 'string' ? source : await orStore(source))
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
    const { revision, found } = await this.#options.store.get(key, { revision: exactly })
    return { revision: exactly ?? revision, item: found && this.#resource.looseItem(found) }
  }

  async list(range: KeyRange, at: Freshness, selection: Selection = {}): Promise<ListResult> {
    const source = this.#freshState.wait(at)
    const state = this.#freshState.take(
      typeof source === 'string' ? source : await orNotListed(source, this.#resource.spec),
    )
    if (state === undefined) return this.#storeLists.list(range, at, selection)
    const resource = this.#resource
    const { limit = 0, by = [], name } = selection
    // Refuse the page only if one of its own objects is unreadable.
    const isPage = limit > 0
    if (!isPage) refuseUnreadable(resource, range, at)
    const { revision, listing } = state
    const among = this.#among(state, range, selection)
    // Read a page from a snapshot. If more pages follow, the client will request them from exactly
    // this state.
    const snapshot = state.isCurrent && isPage ? resource.snapshot() : undefined
    const found = await select(snapshot?.tree ?? state.tree, range, selection, {
      time: this.#options.time,
      counts: snapshot?.counts,
      among,
    })
    const selected = isPage ? checkPage(resource, { page: found, range, at, limit }) : found
    const returned = selected.items.length
    const refused = selected.refused ?? 0
    resource.counts.listed(indexName(selection, among), returned + refused, returned)
    if (by.length > 0 && among === undefined) resource.recordScan(by, refused)
    if (snapshot !== undefined && selected.more) {
      // Do not retain keys that were found by name, because they are only some of the keys that
      // have these values.
      if (among !== undefined && name === undefined) keepFound(snapshot, by, among)
      resource.keep(snapshot)
    }
    return { revision, state: `${listing}@${revision}`, ...selected }
  }

  /**
   * Opens a watch. Rejects with 'compacted' if the events after the revision are no longer
   * available, and with 'too-new' if the revision is not reached in time.
   */
  watch(options: WatchOptions): Promise<Watcher> {
    return this.#watchOpener.open(options)
  }

  /**
   * Records a version that the caller has written, with its JSON for clients, so that the cache
   * does not have to decode it. If `object` is undefined, only the revision is recorded.
   */
  expect(key: Key, revision: Revision, object: KubeObject | undefined, wire: Wire): void {
    this.#resource.expect(key, revision, object, wire)
  }

  /** Returns the keys of all objects that can match, if they can be found without a scan. */
  #among(
    { tree, isCurrent, found }: CacheState,
    range: KeyRange,
    { name, by = [] }: Selection,
  ): KeySet | undefined {
    if (name !== undefined) return named(tree, range, name)
    if (by.length === 0) return undefined
    return isCurrent ? this.#resource.having(by) : found?.get(queryOf(by))
  }
}

/** Returns the name of the index that was used for a list, for metrics. */
function indexName({ name, by = [] }: Selection, among: KeySet | undefined): string {
  if (among === undefined) return ''
  const [first] = by
  if (name !== undefined || first === undefined) return 'name'
  return 'field' in first ? `f:${first.field}` : 'label'
}

/**
 * Maximum number of queries per state whose keys are retained for further pages. The pages of other
 * queries are scanned.
 */
const FOUND_MAX = 100

function keepFound({ found }: Snapshot, by: readonly IndexedValue[], keys: KeySet): void {
  if ((found?.size ?? 0) < FOUND_MAX) found?.set(queryOf(by), keys)
}

const queryOf = (by: readonly IndexedValue[]): string => JSON.stringify(by)

/**
 * Returns 'store' if the list failed because its values could not be decrypted. A single object can
 * still be read from the database.
 */
async function orStore<T>(source: Promise<T | 'store'>): Promise<T | 'store'> {
  try {
    return await source
  } catch (error) {
    if (isCode(error, 'sealed')) return 'store'
    throw error
  }
}

/** Throws an error with kube-apiserver's message if the resource cannot be listed into memory. */
async function orNotListed<T>(source: Promise<T>, spec: ResourceSpec): Promise<T> {
  try {
    return await source
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== 'sealed') throw error
    const message = `storage is (re)initializing: failed to list ${kindOf(spec)}: ${error.message}`
    throw new StorageError('busy', message, { cause: error })
  }
}

/**
 * Creates the JSON for clients from the item, and returns whether the item is readable. A client
 * that requests an unreadable item gets the error.
 */
function isReadable(item: Item): boolean {
  try {
    item.wire()
    return true
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    return false
  }
}
