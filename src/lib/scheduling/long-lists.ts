/**
 * Functions for lists that clients send, which can have tens of thousands of items. Searching the
 * whole list for each of its items would block the event loop for seconds.
 */
import { eachItem, once } from './parts.ts'

/**
 * Maximum number of reported errors or warnings where each pair of items in a list can cause one.
 */
export const TOLD_MAX = 4096

/** Maximum number of repeated items that are reported as errors. */
const REPEATS_MAX = 10_000

/**
 * Returns the indexes of the items that are equal to an earlier item. Returns at most REPEATS_MAX
 * indexes.
 */
export function repeatsIn(list: readonly (string | number)[]): ReadonlySet<number> {
  const { repeats } = eachItem('repeats', list, nothingSeen, (known, item, at) => {
    if (known.seen.has(item)) known.repeats.add(at)
    else known.seen.add(item)
    return known.repeats.size < REPEATS_MAX
  })
  return repeats
}

type SeenItems = { readonly seen: Set<string | number>; readonly repeats: Set<number> }
const nothingSeen = (): SeenItems => ({ seen: new Set(), repeats: new Set() })

const nothing = (): undefined => undefined

/**
 * Appends items until `to` has `lengthMax` items. `to.push(...more)` passes the items as arguments,
 * and would fail for more than about 120,000 items.
 */
export function addAll<T>(to: T[], more: readonly T[], lengthMax = Infinity): void {
  for (const item of more) {
    if (to.length >= lengthMax) return
    to.push(item)
  }
}

/** Returns a new set of the keys of all items. */
export function keysOf<K, T>(list: readonly T[], keyOf: (item: T) => K): Set<K> {
  return eachItem(
    'keys of a list',
    list,
    (): Set<K> => new Set(),
    (keys, item) => {
      keys.add(keyOf(item))
      return true
    },
  )
}

/**
 * Adds a key to the set. Returns true if the key was not in the set before. In work that is divided
 * by `parts.ts`, a later part can repeat this call. The result is then the same as before.
 */
export const addKey = <K>(keys: Set<K>, key: K): boolean =>
  once('key is added', () => keys.size < keys.add(key).size)

/** Returns the first item for each key. */
export function firstBy<K, T>(list: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, T> {
  const firsts = once('firsts', () => new Map<K, T>())
  eachItem('first of each key', list, nothing, (_, item) => {
    const key = keyOf(item)
    if (!firsts.has(key)) firsts.set(key, item)
    return true
  })
  return firsts
}
