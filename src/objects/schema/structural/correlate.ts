/**
 * Matches the items of a list with the items before an update. This is possible only for lists with
 * keys. Because lists can be long, all work runs in time slices.
 */
import { type Fields, isFields, type Json } from '../../../api/object.ts'
import type { Slice } from '../../cel/run.ts'
import type { Turns } from '../../cel/turns.ts'
import type { Structural } from './structural.ts'
import { isSameInTurns, keyOfValue, LOOK_VALUES } from './value.ts'

/**
 * Returns the old value of each item, or undefined for a new item. Returns undefined if the items
 * of the list cannot be matched.
 */
export function* correlatedItems(
  items: readonly Json[],
  old: Json | undefined,
  { list, slice }: { readonly list: Structural['list']; readonly slice: Slice },
): Turns<readonly (Json | undefined)[] | undefined> {
  if (!Array.isArray(old) || list?.by !== 'keys') return undefined
  const byKey = new Map<string, Json>()
  for (const [at, item] of old.entries()) {
    if (at % LOOK_VALUES === LOOK_VALUES - 1 && slice.isOver()) yield undefined
    const key = wholeKey(item, list.keys)
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item)
  }
  const olds: (Json | undefined)[] = []
  for (const [at, item] of items.entries()) {
    if (at % LOOK_VALUES === LOOK_VALUES - 1 && slice.isOver()) yield undefined
    const key = wholeKey(item, list.keys)
    olds.push(key === undefined ? undefined : byKey.get(key))
  }
  return olds
}

/**
 * Whether a value is unchanged according to the schema. Items with keys can be in a different
 * order. A field that is not in the schema counts as changed; most objects have such fields in
 * their metadata.
 */
export function* isUnchanged(
  value: Json,
  old: Json,
  { schema, slice }: CorrelationContext,
): Turns<boolean> {
  if (slice.isOver()) yield undefined
  if (Array.isArray(value) && Array.isArray(old))
    return yield* areItemsUnchanged(value, old, { schema, slice })
  if (!isFields(value) || !isFields(old)) return yield* isSameInTurns(value, old, slice)
  const names = Object.keys(value)
  if (names.length !== Object.keys(old).length) return false
  for (const name of names) {
    const own = schema.properties?.get(name) ?? schema.additional
    if (typeof own !== 'object' || !Object.hasOwn(old, name)) return false
    if (!(yield* isUnchanged(value[name] ?? null, old[name] ?? null, { schema: own, slice })))
      return false
  }
  return true
}

type CorrelationContext = { readonly schema: Structural; readonly slice: Slice }

function* areItemsUnchanged(
  items: readonly Json[],
  old: readonly Json[],
  { schema, slice }: CorrelationContext,
): Turns<boolean> {
  const { list, items: own } = schema
  if (list?.by !== 'keys' || own === undefined) return yield* isSameInTurns(items, old, slice)
  if (items.length !== old.length) return false
  const olds = yield* correlatedItems(items, old, { list, slice })
  for (const [at, item] of items.entries()) {
    const before = olds?.[at]
    if (before === undefined || !(yield* isUnchanged(item, before, { schema: own, slice })))
      return false
  }
  return true
}

/**
 * Returns the key of an item. Returns undefined if the item cannot be matched, because a key is
 * absent or is not a scalar.
 */
const wholeKey = (item: Json, keys: readonly string[]): string | undefined =>
  isFields(item) && keys.every((key) => Object.hasOwn(item, key) && isScalar(item[key]))
    ? itemKey(item, keys)
    : undefined

const isScalar = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && typeof value !== 'object'

const itemKey = (item: Fields, keys: readonly string[]): string =>
  keys.map((key) => (Object.hasOwn(item, key) ? keyOfValue(item[key] ?? null) : '')).join()
