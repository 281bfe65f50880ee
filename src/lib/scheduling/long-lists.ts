/**
 * Helpers for lists that clients send: tens of thousands of items fit into a body. Searching the
 * whole list for each of its items would block the event loop for seconds.
 */
import { eachItem, once } from './parts.ts'

/**
 * The maximum of warnings or faults where each pair of items can cause one. Nobody reads that many.
 */
export const TOLD_MAX = 4096

/** Each repeated item is a fault, and this is the maximum of faults that are reported. */
const REPEATS_MAX = 10_000

/** The indexes of items that occur earlier in the list, up to REPEATS_MAX of them. */
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
 * Instead of `to.push(...more)`, which fails beyond some 120,000 items, because they are passed as
 * arguments.
 */
export function addAll<T>(to: T[], more: readonly T[], lengthMax = Infinity): void {
  for (const item of more) {
    if (to.length >= lengthMax) return
    to.push(item)
  }
}

/** The keys of all items. The set may be changed afterwards. */
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

/** Adds a key, and returns whether it is new. The answer stays the same when the work continues. */
export const addKey = <K>(keys: Set<K>, key: K): boolean =>
  once('key is added', () => keys.size < keys.add(key).size)

/** The first item of each key. */
export function firstBy<K, T>(list: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, T> {
  const firsts = once('firsts', () => new Map<K, T>())
  eachItem('first of each key', list, nothing, (_, item) => {
    const key = keyOf(item)
    if (!firsts.has(key)) firsts.set(key, item)
    return true
  })
  return firsts
}
