/**
 * Lists as clients send them: tens of thousands of items fit into a body. To look through the whole list for each of its items would
 * hold up everybody else for seconds.
 */
import { isFields, type Json } from '../../api/object.ts'

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
export function addAll<T>(to: T[], more: readonly T[]): void {
  for (const item of more) to.push(item)
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

/** A text that two values share if, and only if, `isSame` holds for them. */
export function identityOf(value: Json | undefined): string {
  if (isNothing(value)) return 'null'
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return `[${value.map(identityOf).join()}]`
  if (!isFields(value)) return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, field]) => !isNothing(field))
  const printed = entries.map(([key, field]) => `${JSON.stringify(key)}:${identityOf(field)}`)
  return `{${printed.toSorted().join()}}`
}

function isNothing(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true
  if (typeof value !== 'object') return false
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}
