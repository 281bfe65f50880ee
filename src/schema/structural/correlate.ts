/** Which item of a list was which before an update: only lists whose items have keys can tell. */
import { type Fields, isFields, type Json } from '../../api/object.ts'
import type { Structural } from './structural.ts'
import { isSameValue, keyOfValue } from './value.ts'

/** For each item what it was, undefined where it was not there. Undefined: items of this list cannot be told apart. */
export function correlatedItems(
  items: readonly Json[],
  old: Json | undefined,
  { list }: Pick<Structural, 'list'>,
): readonly (Json | undefined)[] | undefined {
  if (!Array.isArray(old) || list?.by !== 'keys') return undefined
  const olds = new Map<string, Json>()
  for (const item of old) {
    const key = wholeKey(item, list.keys)
    if (key !== undefined && !olds.has(key)) olds.set(key, item)
  }
  return items.map((item) => {
    const key = wholeKey(item, list.keys)
    return key === undefined ? undefined : olds.get(key)
  })
}

/**
 * Whether a value is what it was, as far as the schema can tell: items with keys may have changed places, and of a field that the schema
 * does not know, such as the metadata of most objects, nobody can tell.
 */
export function isUnchanged(value: Json, old: Json, schema: Structural): boolean {
  if (Array.isArray(value) && Array.isArray(old)) return areItemsUnchanged(value, old, schema)
  if (!isFields(value) || !isFields(old)) return isSameValue(value, old)
  const names = Object.keys(value)
  return names.length === Object.keys(old).length && names.every((name) => isFieldUnchanged(name, [value, old], schema))
}

function isFieldUnchanged(name: string, [value, old]: readonly [Fields, Fields], schema: Structural): boolean {
  const own = schema.properties?.get(name) ?? schema.additional
  if (typeof own !== 'object' || !Object.hasOwn(old, name)) return false
  return isUnchanged(value[name] ?? null, old[name] ?? null, own)
}

function areItemsUnchanged(items: readonly Json[], old: readonly Json[], schema: Structural): boolean {
  const olds = correlatedItems(items, old, schema)
  const own = schema.items
  if (olds === undefined || own === undefined) return isSameValue(items, old)
  if (items.length !== old.length) return false
  return items.every((item, at) => {
    const before = olds[at]
    return before !== undefined && isUnchanged(item, before, own)
  })
}

/** Undefined: the item leaves out a key, or has one that is no scalar, so that nobody can tell which it was. */
const wholeKey = (item: Json, keys: readonly string[]): string | undefined =>
  isFields(item) && keys.every((key) => Object.hasOwn(item, key) && isScalar(item[key]))
    ? itemKey(item, keys)
    : undefined

const isScalar = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && typeof value !== 'object'

/** The values of the keys of an item; undefined: it is no object. */
export function itemKey(item: Json, keys: readonly string[]): string | undefined {
  if (!isFields(item)) return undefined
  return keys.map((key) => (Object.hasOwn(item, key) ? keyOfValue(item[key] ?? null) : '')).join()
}
