/** The current objects of a resource in the order of their keys. A clone costs next to nothing and shares what does not change. */
import BTreeModule from 'sorted-btree'
import { Slices, type SlicesTime } from '../lib/slices.ts'
import type { Key } from '../storage/engine.ts'
import { type KeyRange, keyAfter } from '../storage/keys.ts'
import type { Item, Matches } from './item.ts'

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
  readonly matches?: Matches | undefined
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

/** On a tree that nobody changes meanwhile. */
export async function select(
  tree: Tree,
  range: KeyRange,
  { limit = 0, matches }: Selection,
  { time, counts }: { readonly time: SlicesTime; readonly counts?: Counts | undefined },
): Promise<Selected> {
  if (matches !== undefined) return filtered(tree.clone(), range, { limit, matches, time })
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

/** Looked at between two looks at the clock: mostly a microsecond's work, but what has no facts yet is decoded. */
const LOOKED_AT_ONCE = 16

/** In slices: a list can be long. */
async function filtered(
  tree: Tree,
  range: KeyRange,
  { limit, matches, time }: { readonly limit: number; readonly matches: Matches; readonly time: SlicesTime },
): Promise<Selected> {
  const items: Item[] = []
  const slices = new Slices(time)
  let start: Key | undefined = range.from
  let isFull = false
  let looked = 0
  while (start !== undefined) {
    const from: Key = start
    start = undefined
    tree.forRange(from, range.to, false, (key, item) => {
      isFull = limit > 0 && items.length === limit
      if (isFull) return leave
      if (matches(item)) items.push(item)
      if (++looked % LOOKED_AT_ONCE !== 0 || !slices.isOver) return undefined
      start = keyAfter(key)
      return leave
    })
    if (start !== undefined) await slices.turn()
  }
  return { items, more: isFull, remaining: 0 }
}

const leave = { break: true }

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
