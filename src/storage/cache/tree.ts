/**
 * The current objects of a resource, sorted by key. Trees are copy-on-write, so cloning is cheap.
 */
import BTreeModule from 'sorted-btree'
import { Slices, type SlicesTime } from '../../lib/scheduling/slices.ts'
import type { Key } from '../engine.ts'
import { type KeyRange, keyAfter, rangeOf } from '../keys.ts'
import { type Item, LOOK_BYTES, type Matches } from './item.ts'

// sorted-btree is a CommonJS package, so its class is the `default` property of the default import.
const BTree = BTreeModule.default

export type Tree = InstanceType<typeof BTree<Key, Item>>

export const newTree = (): Tree => new BTree<Key, Item>(undefined, byBytes)

/**
 * Sorted keys without objects. A key set takes half the memory of a tree, and does not change when
 * an object changes.
 */
export type KeySet = InstanceType<typeof BTree<Key, undefined>>

export const newKeySet = (): KeySet => new BTree<Key, undefined>(undefined, byBytes)

/**
 * Compares keys. Each character of a key represents one byte, so the order is the same as in the
 * database.
 */
const byBytes = (a: Key, b: Key): number => (a < b ? -1 : a > b ? 1 : 0)

export function hasAny(tree: Tree, { from, to }: KeyRange): boolean {
  const first = tree.getPairOrNextHigher(from)
  return first !== undefined && first[0] < to
}

export type Selection = {
  /** Maximum number of objects. If 0 or absent, there is no limit. */
  readonly limit?: number | undefined
  readonly matches?: Matches | undefined
  /**
   * Values of fields or labels that all matching objects have. An index of one of them can replace
   * the scan.
   */
  readonly by?: readonly IndexedValue[] | undefined
  /** If defined, only objects whose key ends with this segment (the name) match. */
  readonly name?: Key | undefined
  /**
   * Reserves memory before an object is read for this list alone. Returns false if there is no
   * room; the list then fails with 'busy'. If absent, memory is not limited.
   */
  readonly hold?: (bytes: number) => boolean
  /**
   * Returns a signal that is aborted when the client no longer waits for the list. Called only if
   * the list is read from the database.
   */
  readonly signal?: () => AbortSignal
}

/** A query to an index: the value of a selectable field, or of a label. */
export type IndexedValue =
  | { readonly field: string; readonly value: string }
  | { readonly label: string; readonly value: string }

/**
 * Caches the number of keys between two keys of a tree that does not change. Clients that read the
 * same pages of a list need the same counts.
 */
export type Counts = Map<string, number>

/**
 * Maximum number of cached counts per state. If there are more, all counts are dropped and computed
 * again.
 */
const COUNTS_MAX = 1000

export type SelectResult = {
  readonly items: readonly Item[]
  /**
   * Whether the range contains more keys after the last item. These keys are not matched against
   * the filter.
   */
  readonly more: boolean
  /**
   * Number of keys that follow. With a filter it is 0, because a list with a selector has no
   * remainingItemCount.
   */
  readonly remaining: number
  /** Number of objects that the filter has rejected. */
  readonly refused?: number
}

/**
 * Maximum number of namespaces that are searched in one tick of the event loop. The search takes
 * about a millisecond.
 */
const FOLDERS_MAX = 500

/**
 * Returns the keys with one name in all namespaces. Returns undefined if there are too many
 * namespaces to search in one tick of the event loop.
 */
export function named(tree: Tree, { from, to }: KeyRange, name: Key): KeySet | undefined {
  const found = newKeySet()
  let start = from
  for (let folders = 0; folders < FOLDERS_MAX; folders++) {
    const first = tree.getPairOrNextHigher(start)?.[0]
    if (first === undefined || first >= to) return found
    const folder = first.slice(0, first.lastIndexOf('/') + 1)
    const key = folder + name
    if (tree.has(key)) found.set(key, undefined)
    start = rangeOf(folder).to
  }
  return undefined
}

type SelectOptions = {
  readonly time: SlicesTime
  readonly counts?: Counts | undefined
  /** The keys of the tree that can match. The set must not change during the selection. */
  readonly among?: KeySet | undefined
}

/** Selects objects from a tree. The tree must not change during the selection. */
export async function select(
  tree: Tree,
  range: KeyRange,
  { limit = 0, matches }: Selection,
  { time, counts, among }: SelectOptions,
): Promise<SelectResult> {
  if (matches !== undefined) return filtered(tree.clone(), range, { limit, matches, time, among })
  if (limit === 0) return { items: await all(tree, range, time), more: false, remaining: 0 }
  const items: Item[] = []
  let next: Key | undefined
  tree.forRange(range.from, range.to, false, (key, item) => {
    if (items.length < limit) {
      items.push(item)
      return undefined
    }
    next = key
    return { break: true }
  })
  if (next === undefined) return { items, more: false, remaining: 0 }
  return { items, more: true, remaining: count(tree, next, range.to, counts) }
}

type Filtering = {
  readonly limit: number
  readonly matches: Matches
  readonly time: SlicesTime
  readonly among: KeySet | undefined
}

async function filtered(
  tree: Tree,
  range: KeyRange,
  { limit, matches, time, among }: Filtering,
): Promise<SelectResult> {
  const items: Item[] = []
  let refused = 0
  const wantsMore = (item: Item): boolean => {
    if (matches(item)) items.push(item)
    else refused++
    return items.length !== limit || limit === 0
  }
  const atOnce = Math.ceil((LOOKED_AT_ONCE * LOOK_BYTES) / (matches.lookBytes ?? LOOK_BYTES))
  if (among === undefined) await walk(tree, range, time, wantsMore, atOnce)
  else await walkAmong(among, tree, { range, time, wantsMore })
  const last = items.at(-1)
  const isFull = last !== undefined && items.length === limit
  return {
    items,
    more: isFull && hasAny(tree, { from: keyAfter(last.key), to: range.to }),
    remaining: 0,
    refused,
  }
}

/**
 * Number of items between two checks of the clock. Each of these items takes about a microsecond.
 * An item without encoded labels and fields must be decoded and may be large, so the clock is
 * always checked after it.
 */
const LOOKED_AT_ONCE = 16

/**
 * Visits items in slices until the visitor returns false. The tree must not change while this runs.
 */
export async function walk(
  tree: Tree,
  { from, to }: KeyRange,
  time: SlicesTime,
  wantsMore: (item: Item) => boolean,
  atOnce = LOOKED_AT_ONCE,
): Promise<void> {
  const slices = new Slices(time)
  let start: Key | undefined = from
  let left = atOnce
  while (start !== undefined) {
    const first: Key = start
    start = undefined
    tree.forRange(first, to, false, (key, item) => {
      const isQuick = item.hasFacts
      if (!wantsMore(item)) return leave
      if (--left > 0 && isQuick) return undefined
      left = atOnce
      if (!slices.isOver) return undefined
      start = keyAfter(key)
      return leave
    })
    if (start !== undefined) await slices.turn()
  }
}

const leave = { break: true }

type Walk = {
  readonly range: KeyRange
  readonly time: SlicesTime
  readonly wantsMore: (item: Item) => boolean
}

/**
 * Like `walk`, but visits only some keys of the tree. The clock is checked after each key, because
 * a lookup takes longer than a check.
 */
async function walkAmong(
  keys: KeySet,
  tree: Tree,
  { range, time, wantsMore }: Walk,
): Promise<void> {
  const slices = new Slices(time)
  let start: Key | undefined = range.from
  while (start !== undefined) {
    const first: Key = start
    start = undefined
    keys.forRange(first, range.to, false, (key) => {
      const item = tree.get(key)
      if (item !== undefined && !wantsMore(item)) return leave
      if (!slices.isOver) return undefined
      start = keyAfter(key)
      return leave
    })
    if (start !== undefined) await slices.turn()
  }
}

function count(tree: Tree, from: Key, to: Key, counts: Counts | undefined): number {
  const id = `${from} ${to}`
  const known = counts?.get(id)
  if (known !== undefined) return known
  const counted = tree.forRange(from, to, false)
  if ((counts?.size ?? 0) >= COUNTS_MAX) counts?.clear()
  counts?.set(id, counted)
  return counted
}

/**
 * Number of items between two checks of the clock. Collecting them takes about a tenth of a
 * millisecond.
 */
const ITEMS_AT_ONCE = 4_096

async function all(tree: Tree, { from, to }: KeyRange, time: SlicesTime): Promise<Item[]> {
  const items: Item[] = []
  const slices = new Slices(time)
  const still = tree.size >= ITEMS_AT_ONCE ? tree.clone() : tree
  let start = from
  let isMore = true
  while (isMore) {
    isMore = false
    still.forRange(start, to, false, (key, item, taken) => {
      items.push(item)
      if (taken + 1 < ITEMS_AT_ONCE) return undefined
      isMore = true
      start = keyAfter(key)
      return { break: true }
    })
    // Lists that waited for the same revision continue in the same tick of the event loop. A long
    // list waits for a slice after its first items, because otherwise each of these lists would use
    // a whole slice in that tick.
    const isFirst = items.length <= ITEMS_AT_ONCE
    if (isMore && (isFirst || slices.isOver)) await slices.turn()
  }
  return items
}
