/** The current objects of a resource in the order of their keys. A clone costs next to nothing and shares what does not change. */
import BTreeModule from 'sorted-btree'
import type { KubeObject } from '../api/object.ts'
import { Slices, type SlicesTime } from '../lib/slices.ts'
import type { Key } from '../storage/engine.ts'
import { type KeyRange, keyAfter } from '../storage/keys.ts'
import type { Item } from './item.ts'

// The package is CommonJS: its class stands behind `default`, twice.
const BTree = BTreeModule.default

export type Tree = InstanceType<typeof BTree<Key, Item>>

export const newTree = (): Tree => new BTree<Key, Item>(undefined, byBytes)

/** Keys have a character per byte, so this is the order of the database. */
const byBytes = (a: Key, b: Key): number => (a < b ? -1 : a > b ? 1 : 0)

export function hasAny(tree: Tree, { from, to }: KeyRange): boolean {
  const first = tree.getPairOrNextHigher(from)
  return first !== undefined && first[0] < to
}

export type Selection = {
  /** 0 or absent: all. */
  readonly limit?: number | undefined
  readonly matches?: ((object: KubeObject) => boolean) | undefined
}

/** How many keys there are from one key to another, in a tree that does not change: pages ask for the same again and again. */
export type Counts = Map<string, number>

/** Of one state; whoever asks for pages of many sizes has them counted anew. */
const COUNTS_MAX = 1000

export type Selected = {
  readonly items: readonly Item[]
  /** Whether any key of the range follows the last item, matching or not. */
  readonly more: boolean
  /** How many keys follow; 0 where there is a filter, since nobody asks then. */
  readonly remaining: number
}

/** In slices, on a tree that nobody changes meanwhile: a list can be long, and what a filter looks at is decoded. */
export async function select(
  tree: Tree,
  range: KeyRange,
  { limit = 0, matches }: Selection,
  { time, counts }: { readonly time: SlicesTime; readonly counts?: Counts | undefined },
): Promise<Selected> {
  if (limit === 0 && matches === undefined) return { items: await all(tree, range, time), more: false, remaining: 0 }
  const items: Item[] = []
  const still = matches === undefined ? tree : tree.clone()
  const slices = new Slices(time)
  for (const [key, item] of still.entries(range.from)) {
    if (key >= range.to) break
    if (limit > 0 && items.length === limit) {
      return { items, more: true, remaining: matches === undefined ? count(tree, key, range.to, counts) : 0 }
    }
    if (matches === undefined || matches(item.object())) items.push(item)
    if (matches !== undefined && slices.isOver) await slices.turn()
  }
  return { items, more: false, remaining: 0 }
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

/** So many are taken at once: a tenth of a millisecond. */
const ITEMS_AT_ONCE = 4_096

async function all(tree: Tree, { from, to }: KeyRange, time: SlicesTime): Promise<Item[]> {
  const items: Item[] = []
  const slices = new Slices(time)
  const still = tree.size > ITEMS_AT_ONCE ? tree.clone() : tree
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
    if (isMore && slices.isOver) await slices.turn()
  }
  return items
}
