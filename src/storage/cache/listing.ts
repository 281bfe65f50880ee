/**
 * Lists a whole resource, and collects the events that the event feed delivers during the list. If
 * events are lost, the list starts over. The result is the state at one revision and every later
 * event.
 */
import { Slices } from '../../lib/scheduling/slices.ts'
import type { Time } from '../../lib/time/timers.ts'
import type { Key, Revision, VersionedValue } from '../engine.ts'
import { isCode, StorageError } from '../errors.ts'
import type { Feed } from '../feed.ts'
import type { KeyRange } from '../keys.ts'
import type { Store, UnreadableValue } from '../store.ts'
import { OutOfRoom } from './ceiling.ts'
import type { ResourceCounts } from './counts.ts'
import type { Item } from './item.ts'
import type { Slabs } from './slabs.ts'
import { newTree, type Tree } from './tree.ts'

/**
 * Maximum size of the events that are collected during a list. If there are more, the list starts
 * over.
 */
const PENDING_BYTES_MAX = 64 << 20

/**
 * An event from the event feed, and the item created from it. `item` is undefined if the object was
 * deleted or cannot be read.
 */
export type ItemEvent = {
  readonly key: Key
  readonly item: Item | undefined
  readonly revision: Revision
  readonly fault?: StorageError | undefined
}

export type LoadedObjects = {
  readonly tree: Tree
  readonly revision: Revision
  readonly unreadable: readonly UnreadableValue[]
}

export type ListingOptions = {
  readonly range: KeyRange
  /**
   * Called after each page with the number of bytes loaded so far. Throws if the memory limit is
   * exceeded.
   */
  readonly checkRoom: (loadedBytes: number) => void
  readonly parts: {
    readonly store: Store
    readonly feed: Pick<Feed, 'known' | 'recordRead'>
    readonly slabs: Slabs
    readonly time: Time
  }
  readonly newItem: (found: VersionedValue) => Item
  readonly counts: ResourceCounts
}

export class Listing {
  readonly #range: KeyRange
  readonly #checkRoom: (loadedBytes: number) => void
  readonly #parts: ListingOptions['parts']
  readonly #newItem: (found: VersionedValue) => Item
  readonly #counts: ResourceCounts
  readonly #over = Promise.withResolvers<void>()
  readonly #pending: ItemEvent[] = []
  #pendingBytes = 0
  #isLost = false
  #isClosed = false

  constructor({ range, checkRoom, parts, newItem, counts }: ListingOptions) {
    this.#counts = counts
    this.#range = range
    this.#checkRoom = checkRoom
    this.#parts = parts
    this.#newItem = newItem
  }

  /**
   * Settles like the promise passed to `settleWith`, or when the listing is closed. Callers that
   * need the resource wait for this promise.
   */
  get done(): Promise<void> {
    return this.#over.promise
  }

  settleWith(work: Promise<void>): void {
    work.then(this.#over.resolve, this.#over.reject)
  }

  /** Records that events since the start of the list were lost, so the list starts over. */
  lose(): void {
    this.#isLost = true
  }

  setAside(event: ItemEvent): void {
    this.#pendingBytes += event.item?.length ?? event.key.length
    if (this.#pendingBytes > PENDING_BYTES_MAX) this.#isLost = true
    if (!this.#isLost) this.#pending.push(event)
    else if (event.item !== undefined) this.#parts.slabs.release(event.item)
  }

  /**
   * Lists the resource, and repeats the list if events were lost. `use` is called in the same tick
   * of the event loop as the last check for lost events, so that no event arrives in between.
   */
  async fill(use: (loaded: LoadedObjects, since: readonly ItemEvent[]) => void): Promise<void> {
    for (;;) {
      const loaded = await this.#load()
      if (loaded !== undefined && !this.#isLost && !this.#isClosed) {
        use(loaded, this.#pending)
        return
      }
      if (loaded !== undefined) this.#releaseTree(loaded.tree)
      this.forget()
      if (this.#isClosed) throw new StorageError('unavailable', 'the cache is closed')
    }
  }

  /** Releases the collected events. */
  forget(): void {
    this.#parts.slabs.releaseAll(this.#pending.splice(0).map(({ item }) => item))
    this.#pendingBytes = 0
    this.#isLost = false
  }

  /**
   * Closes the listing. Waiting callers continue immediately, because the database may not respond.
   */
  close(): void {
    this.#isClosed = true
    this.#over.resolve()
  }

  /** Lists the whole resource at one revision. Returns undefined if it must be listed again. */
  async #load(): Promise<LoadedObjects | undefined> {
    const tree = newTree()
    const unreadable: UnreadableValue[] = []
    let loaded: LoadedObjects | undefined
    try {
      const revision = await this.#walkInto(tree, unreadable)
      if (revision !== undefined) loaded = { tree, revision, unreadable }
    } catch (error) {
      // List again if the revision of the first page no longer exists, because the database was
      // replaced or compacted during the list. While the KMS plugin is down, every event is lost,
      // but another list would fail in the same way.
      const isFinal = error instanceof OutOfRoom || isCode(error, 'sealed')
      if (isFinal || (!this.#isLost && !isCode(error, 'compacted'))) throw error
    } finally {
      if (loaded === undefined) this.#releaseTree(tree)
    }
    return loaded
  }

  /**
   * Reads all objects into the tree and returns their revision. Returns undefined if events were
   * lost in the meantime or the listing was closed.
   */
  async #walkInto(tree: Tree, unreadable: UnreadableValue[]): Promise<Revision | undefined> {
    let revision: Revision | undefined
    const slices = new Slices(this.#parts.time, { isShared: true })
    const { feed, store } = this.#parts
    const { known } = feed
    const { fromStore } = this.#counts
    fromStore.lists++
    let loadedBytes = 0
    for await (const page of store.walk(this.#range, {
      readsAhead: true,
      setsAsideUnreadable: true,
      isShared: true,
    })) {
      fromStore.fetched += page.values.length
      fromStore.evaluated += page.values.length
      fromStore.returned += page.values.length
      // Report the revision to the event feed. A database that has replaced another one may have a
      // lower revision. An event feed that has not noticed the replacement would mistake this
      // revision for an old one.
      if (revision === undefined) feed.recordRead(page.revision, known)
      revision = page.revision
      for (const one of page.unreadable) unreadable.push(one)
      for (const stored of page.values) {
        tree.set(stored.key, this.#newItem(stored))
        loadedBytes += stored.value.length
        if (slices.isOver) await slices.turn()
      }
      if (this.#isLost || this.#isClosed) return undefined
      this.#checkRoom(loadedBytes)
    }
    return this.#isLost ? undefined : revision
  }

  #releaseTree(tree: Tree): void {
    this.#parts.slabs.releaseAll(tree.values())
  }
}
