/**
 * Finds the old value of each list item during an update. Only items of lists with keys can be
 * matched. Lists can be long, so all work runs in time slices.
 */
import { type Fields, isFields, type Json } from '../../../api/object.ts'
import type { Slice } from '../../cel/run.ts'
import type { Turns } from '../../cel/turns.ts'
import type { Structural } from './structural.ts'
import { isSameInTurns, keyOfValue, LOOK_VALUES } from './value.ts'

/**
 * Returns, for each item, its value before the update. It is undefined for a new item. Returns
 * undefined if the items of this list cannot be matched.
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
 * Whether a value is unchanged according to its schema. If the items of a list have keys, their
 * order may differ. A field that the schema does not declare counts as changed. The metadata of
 * most objects has such fields.
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
 * Returns a key that identifies an item. Returns undefined if one of its keys is absent or is not a
 * scalar. Such an item cannot be matched.
 */
const wholeKey = (item: Json, keys: readonly string[]): string | undefined =>
  isFields(item) && keys.every((key) => Object.hasOwn(item, key) && isScalar(item[key]))
    ? itemKey(item, keys)
    : undefined

const isScalar = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && typeof value !== 'object'

const itemKey = (item: Fields, keys: readonly string[]): string =>
  keys.map((key) => (Object.hasOwn(item, key) ? keyOfValue(item[key] ?? null) : '')).join()
