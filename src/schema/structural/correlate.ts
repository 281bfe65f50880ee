/** Which item of a list was which before an update: only lists whose items have keys can tell. */
import { isFields, type Json } from '../../api/object.ts'
import type { Structural } from './structural.ts'
import { keyOfValue } from './value.ts'

/** For each item what it was, undefined where it was not there. Undefined: items of this list cannot be told apart. */
export function correlatedItems(
  items: readonly Json[],
  old: Json | undefined,
  { list }: Pick<Structural, 'list'>,
): readonly (Json | undefined)[] | undefined {
  if (!Array.isArray(old) || list?.by !== 'keys') return undefined
  const olds = new Map<string, Json>()
  for (const item of old) {
    const key = itemKey(item, list.keys)
    if (key !== undefined && !olds.has(key)) olds.set(key, item)
  }
  return items.map((item) => {
    const key = itemKey(item, list.keys)
    return key === undefined ? undefined : olds.get(key)
  })
}

/** The values of the keys of an item; undefined: it is no object. */
export function itemKey(item: Json, keys: readonly string[]): string | undefined {
  if (!isFields(item)) return undefined
  return keys.map((key) => (Object.hasOwn(item, key) ? keyOfValue(item[key] ?? null) : '')).join()
}
