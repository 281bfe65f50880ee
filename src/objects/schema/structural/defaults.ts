/**
 * Sets the defaults of a structural schema. In a field that is not nullable, null means the same as
 * an absent value: it is replaced by the default, or removed if there is none. A value that needs
 * no change is returned as it is.
 *
 * A list can have thousands of items that get the same default. When the total size of the defaults
 * is too large to be stored, no more defaults are set.
 */
import { JsonMap } from '../../../api/json-map.ts'
import { type Fields, isFields, type Json } from '../../../api/object.ts'
import { once } from '../../../lib/scheduling/parts.ts'
import type { Structural } from './structural.ts'
import { changedFields, changedItems } from './value.ts'

/**
 * Maximum total length of all defaults of an object. etcd accepts 1.5 MiB by default, and a few MiB
 * if it is configured accordingly.
 */
const CHARACTERS_MAX = 32 << 20

/** Whether null is removed from a field that is not nullable and has no default. */
export type Nulls = 'removed' | 'kept'

type Walk = { readonly nulls: Nulls; readonly room: { characters: number } }

export function setDefaults(value: Json, schema: Structural, nulls: Nulls = 'removed'): Json {
  return setAt(value, schema, {
    nulls,
    room: once('room for defaults', () => ({ characters: CHARACTERS_MAX })),
  })
}

function setAt(value: Json, schema: Structural, walk: Walk): Json {
  if (Array.isArray(value)) return setInItems(value, schema.items, walk)
  return isFields(value) ? setInFields(value, schema, walk) : value
}

function setInItems(items: readonly Json[], schema: Structural | undefined, walk: Walk): Json {
  if (schema === undefined) return items
  return changedItems(items, (item) => {
    const start = isVoid(item, schema) ? (taken(schema.default, walk) ?? null) : item
    return setAt(start, schema, start === item ? walk : inDefault(walk))
  })
}

function setInFields(fields: Fields, schema: Structural, walk: Walk): Json {
  let absent: JsonMap | undefined
  for (const { name, value, property } of schema.defaults) {
    if (Object.hasOwn(fields, name)) continue
    const given = taken(value, walk)
    if (given === undefined) break
    absent ??= new JsonMap()
    absent[name] = setAt(given, property, inDefault(walk))
  }
  const otherwise = walk.nulls === 'kept' ? null : undefined
  const set = changedFields(fields, (before, name) => {
    const own = schema.properties?.get(name) ?? schema.additional
    if (typeof own !== 'object') return before
    const start = isVoid(before, own) ? (taken(own.default, walk) ?? otherwise) : before
    return start === undefined
      ? undefined
      : setAt(start, own, start === before ? walk : inDefault(walk))
  })
  return absent === undefined ? set : Object.assign(new JsonMap(), set, absent)
}

/**
 * Keeps nulls that are part of a default. kube-apiserver removes nulls before it sets defaults, so
 * such nulls are stored. They are removed when the object is read.
 */
const inDefault = (walk: Walk): Walk => (walk.nulls === 'kept' ? walk : { ...walk, nulls: 'kept' })

/**
 * Removes nulls from fields that are not nullable and have no default. kube-apiserver does this
 * when it converts objects between versions.
 */
export function removeNulls(value: Json, schema: Structural): Json {
  const { items } = schema
  if (Array.isArray(value))
    return items === undefined ? value : changedItems(value, (item) => removeNulls(item, items))
  if (!isFields(value)) return value
  return changedFields(value, (before, name) => {
    const own = schema.properties?.get(name) ?? schema.additional
    if (typeof own !== 'object') return before
    return isVoid(before, own) && own.default === undefined ? undefined : removeNulls(before, own)
  })
}

/**
 * Returns a default, and subtracts its size from the budget. Returns undefined if there is no
 * default or the budget is exhausted.
 */
function taken(value: Json | undefined, { room }: Walk): Json | undefined {
  if (value === undefined) return undefined
  return once('default', () => {
    if (room.characters < 0) return undefined
    room.characters -= charactersOf(value)
    return value
  })
}

/** Returns the approximate length of the value's JSON. */
function charactersOf(value: Json): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  let count = 2
  if (Array.isArray(value)) for (const item of value) count += charactersOf(item)
  else
    for (const [name, field] of Object.entries(value))
      count += name.length + charactersOf(field ?? null)
  return count
}

const isVoid = (value: Json, { isNullable }: Structural): boolean => value === null && !isNullable
