/**
 * Serves lists that cannot be served from memory. Reads all objects of a range from the database,
 * page by page. The memory budget for requests limits how much memory one list can use. If a
 * resource does not fit into the cache, only a few of its lists run concurrently; further lists
 * wait in a queue.
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
 * Maximum number of attempts. An attempt fails if the database is compacted while the list is read.
 * Compactions happen every few minutes, so if all attempts fail, the database is too slow for the
 * whole list.
 */
const TRIES_MAX = 3

export type ListResult = SelectResult & {
  /** The revision of the returned state. */
  readonly revision: Revision
  /**
   * Identifies the state among all states that this process has served. Undefined if the list was
   * not served from memory.
   */
  readonly state?: string
  /** Total size of the objects, if they are in memory only for this list. */
  readonly ownBytes?: number
}

export class StoreLists {
  readonly #resource: CachedResource
  readonly #options: CachedResourceOptions
  readonly #refused: RefusedLists
  /** Average size of an object in the last page that was read. */
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

  /**
   * Lists as soon as the semaphore allows it. If the client disconnects, the list leaves the queue.
   */
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
   * Lists the objects. If no exact revision is requested, the list is repeated when its revision is
   * compacted before the last page is read.
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
    // With a selector, the size of the result cannot be predicted.
    let aheadBytes = matches === undefined ? this.#refused.needs(range, limit) : 0
    // Reserve one byte first. The first reservation of a request can be granted whatever its size,
    // so only the second one shows whether there is enough memory.
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
      throw new StorageError('unavailable', `the database returned no page after ${from}`)
    return { revision, items, more: false, remaining: 0, ownBytes }
  }

  #recordRowBytes(values: readonly { readonly value: Uint8Array }[]): void {
    let bytes = 0
    for (const { value } of values) bytes += value.length
    if (values.length > 0) this.#rowBytes = bytes / values.length
  }
}

/**
 * Returns a function that creates a function `hold` for each attempt to list. Memory that an
 * earlier attempt has reserved is not reserved again.
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
  new StorageError('cancelled', 'the client no longer waits for the list', { cause })

/**
 * Returns the error for a list that needs too much memory. The whole list is in memory before it is
 * sent. Lists from the cache share their objects, but objects read from the database belong to one
 * list.
 */
const tooLong = (name: string): StorageError =>
  new StorageError(
    'busy',
    `a list of ${name} from the database needs more memory than requests may use at the moment (--request-memory-max); set a smaller limit or try again later`,
  )
