/**
 * Sets the defaults of a schema. A null that a field must not have counts as absent: it is replaced by the default, or removed.
 * What needs neither is returned as it is.
 */
import { JsonMap } from '../../api/json-map.ts'
import { type Fields, isFields, type Json } from '../../api/object.ts'
import type { Structural } from './structural.ts'
import { mapItems } from './value.ts'

export function setDefaults(value: Json, schema: Structural, nulls: Nulls = 'removed'): Json {
  if (Array.isArray(value)) return setInItems(value, schema.items, nulls)
  return isFields(value) ? setInFields(value, schema, nulls) : value
}

/** What becomes of nulls that have no default. */
export type Nulls = 'removed' | 'kept'

function setInItems(items: readonly Json[], schema: Structural | undefined, nulls: Nulls): Json {
  if (schema === undefined) return items
  return mapItems(items, (item) => setDefaults(isVoid(item, schema) ? (schema.default ?? null) : item, schema, nulls))
}

function setInFields(fields: Fields, schema: Structural, nulls: Nulls): Json {
  let changed: { [name: string]: Json } | undefined
  for (const { name, value, property } of schema.defaults) {
    if (Object.hasOwn(fields, name)) continue
    changed ??= Object.assign(new JsonMap(), fields)
    changed[name] = setDefaults(value, property, nulls)
  }
  for (const name of Object.keys(fields)) {
    const own = schema.properties?.get(name) ?? schema.additional
    if (typeof own !== 'object') continue
    const before = fields[name] ?? null
    const start = isVoid(before, own) ? (own.default ?? (nulls === 'kept' ? null : undefined)) : before
    const after = start === undefined ? undefined : setDefaults(start, own, nulls)
    if (after === before) continue
    changed ??= Object.assign(new JsonMap(), fields)
    if (after === undefined) delete changed[name]
    else changed[name] = after
  }
  return changed ?? fields
}

const isVoid = (value: Json, { isNullable }: Structural): boolean => value === null && !isNullable
