/**
 * Lists that memory cannot answer: all objects of a range are read from the database, page by page.
 * The memory of a request limits how much one list may hold. Lists of a resource that does not fit
 * into the cache wait for each other.
 */
import { Slices } from '../../lib/scheduling/slices.ts'
import type { Revision } from '../engine.ts'
import { isCode, StorageError } from '../errors.ts'
import type { KeyRange } from '../keys.ts'
import type { Freshness } from './fresh-state.ts'
import type { Item } from './item.ts'
import { tooNew } from './read-errors.ts'
import { RefusedLists } from './refused-lists.ts'
import type { CachedResourceOptions } from './resource-options.ts'
import type { CachedResource } from './resource.ts'
import type { SelectResult, Selection } from './tree.ts'

/**
 * A try fails if the database is compacted during it, which happens every few minutes. If that
 * happens repeatedly, the database is too slow to be read whole.
 */
const TRIES_MAX = 3

export type ListResult = SelectResult & {
  /** The revision at which the list is true. */
  readonly revision: Revision
  /**
   * Identifies the state among all that this process has served; absent if the answer did not come
   * from memory.
   */
  readonly state?: string
  /** The bytes of the objects, if they are in memory for this list alone. */
  readonly ownBytes?: number
}

export class StoreLists {
  readonly #resource: CachedResource
  readonly #options: CachedResourceOptions
  readonly #refused: RefusedLists
  /** The mean size of an object in the last page that was read. */
  #rowBytes: number | undefined

  constructor(resource: CachedResource, options: CachedResourceOptions) {
    this.#resource = resource
    this.#options = options
    this.#refused = new RefusedLists(options.time)
  }

  list(range: KeyRange, at: Freshness, selection: Selection): Promise<ListResult> {
    return this.#resource.reflector.isLeftOut
      ? this.#listInTurn(range, at, selection)
      : this.#list(range, at, selection)
  }

  /** A list whose client has gone leaves the queue. */
  async #listInTurn(range: KeyRange, at: Freshness, selection: Selection): Promise<ListResult> {
    const signal = selection.signal?.()
    try {
      const { storeLists } = this.#options.ceiling
      return await storeLists.run(() => this.#list(range, at, selection), signal)
    } catch (error) {
      throw signal?.aborted === true && !(error instanceof StorageError) ? cancelled(error) : error
    }
  }

  /**
   * A list without an exact revision is read again if the revision of its first page is compacted
   * before its last page.
   */
  async #list(range: KeyRange, at: Freshness, selection: Selection): Promise<ListResult> {
    if (typeof at === 'object' && 'exactly' in at) return this.#walk(range, at.exactly, selection)
    const holdAgain = heldOnce(selection.hold)
    for (let tries = 1; ; tries++) {
      try {
        const found = await this.#walk(range, undefined, { ...selection, hold: holdAgain() })
        if (typeof at === 'object' && found.revision < at.atLeast)
          throw tooNew(at.atLeast, found.revision)
        return found
      } catch (error) {
        if (!isCode(error, 'compacted') || tries === TRIES_MAX) throw error
      }
    }
  }

  async #walk(
    range: KeyRange,
    exactly: Revision | undefined,
    { limit = 0, matches, hold, signal }: Selection,
  ): Promise<ListResult> {
    const aborting = signal?.()
    const items: Item[] = []
    let ownBytes = 0
    // Nobody knows how many objects a selector leaves.
    let aheadBytes = matches === undefined ? this.#refused.needs(range, limit) : 0
    // In two pieces: a request that holds nothing yet gets its first piece, whatever the size.
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
    const slices = new Slices(this.#options.time)
    const walked = { revision, signal: aborting, rowBytes: this.#rowBytes }
    for await (const page of this.#options.store.walk(range, walked)) {
      revision = page.revision
      this.#recordRowBytes(page.values)
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

  #recordRowBytes(values: readonly { readonly value: Uint8Array }[]): void {
    let bytes = 0
    for (const { value } of values) bytes += value.length
    if (values.length > 0) this.#rowBytes = bytes / values.length
  }
}

/**
 * For a list that is read again: what an earlier try holds is not held a second time. Each try
 * calls the returned function.
 */
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

const cancelled = (cause: unknown): StorageError =>
  new StorageError('cancelled', 'nobody waits for the list any more', { cause })

/**
 * A whole list is in memory before it is sent. All lists share the objects of the cache, but not
 * those read for one list.
 */
const tooLong = (name: string): StorageError =>
  new StorageError(
    'busy',
    `a list of ${name} from the database takes more memory than the server has for it now (--request-memory-max); ask for less by limit, or try again later`,
  )
