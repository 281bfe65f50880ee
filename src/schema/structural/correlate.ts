/** Which item of a list was which before an update: only lists whose items have keys can tell. Lists may be long: all in turns. */
import { type Fields, isFields, type Json } from '../../api/object.ts'
import type { Slice } from '../../cel/run.ts'
import type { Turns } from '../../cel/turns.ts'
import type { Structural } from './structural.ts'
import { isSameInTurns, keyOfValue, LOOK_VALUES } from './value.ts'

/** For each item what it was, undefined where it was not there. Undefined: items of this list cannot be told apart. */
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
 * Whether a value is what it was, as far as the schema can tell: items with keys may have changed places, and of a field that the schema
 * does not know, such as the metadata of most objects, nobody can tell.
 */
export function* isUnchanged(value: Json, old: Json, { schema, slice }: Known): Turns<boolean> {
  if (slice.isOver()) yield undefined
  if (Array.isArray(value) && Array.isArray(old)) return yield* areItemsUnchanged(value, old, { schema, slice })
  if (!isFields(value) || !isFields(old)) return yield* isSameInTurns(value, old, slice)
  const names = Object.keys(value)
  if (names.length !== Object.keys(old).length) return false
  for (const name of names) {
    const own = schema.properties?.get(name) ?? schema.additional
    if (typeof own !== 'object' || !Object.hasOwn(old, name)) return false
    if (!(yield* isUnchanged(value[name] ?? null, old[name] ?? null, { schema: own, slice }))) return false
  }
  return true
}

type Known = { readonly schema: Structural; readonly slice: Slice }

function* areItemsUnchanged(items: readonly Json[], old: readonly Json[], { schema, slice }: Known): Turns<boolean> {
  const { list, items: own } = schema
  if (list?.by !== 'keys' || own === undefined) return yield* isSameInTurns(items, old, slice)
  if (items.length !== old.length) return false
  const olds = yield* correlatedItems(items, old, { list, slice })
  for (const [at, item] of items.entries()) {
    const before = olds?.[at]
    if (before === undefined || !(yield* isUnchanged(item, before, { schema: own, slice }))) return false
  }
  return true
}

/** Undefined: the item leaves out a key, or has one that is no scalar, so that nobody can tell which it was. */
const wholeKey = (item: Json, keys: readonly string[]): string | undefined =>
  isFields(item) && keys.every((key) => Object.hasOwn(item, key) && isScalar(item[key]))
    ? itemKey(item, keys)
    : undefined

const isScalar = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && typeof value !== 'object'

const itemKey = (item: Fields, keys: readonly string[]): string =>
  keys.map((key) => (Object.hasOwn(item, key) ? keyOfValue(item[key] ?? null) : '')).join()
