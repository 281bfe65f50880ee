/**
 * Lists as clients send them: tens of thousands of items fit into a body. To look through the whole list for each of its items would
 * hold up everybody else for seconds.
 */

/** Of what each pair of items can add to: warnings, or faults. Nobody reads as many. */
export const TOLD_MAX = 4096

/** The places of those that were in the list before. */
export function repeatsIn(list: readonly (string | number)[]): ReadonlySet<number> {
  const seen = new Set<string | number>()
  const repeats = new Set<number>()
  for (const [at, item] of list.entries()) {
    if (seen.has(item)) repeats.add(at)
    seen.add(item)
  }
  return repeats
}

/** To be used in place of `to.push(...more)`, which fails beyond some 120,000 items: they are the arguments of a call. */
export function addAll<T>(to: T[], more: readonly T[], lengthMax = Infinity): void {
  for (const item of more) {
    if (to.length >= lengthMax) return
    to.push(item)
  }
}

/** The first item of each key. */
export function firstBy<K, T>(list: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, T> {
  const firsts = new Map<K, T>()
  for (const item of list) {
    const key = keyOf(item)
    if (!firsts.has(key)) firsts.set(key, item)
  }
  return firsts
}
