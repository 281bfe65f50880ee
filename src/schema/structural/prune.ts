/** Drops the fields that a schema does not know, as upstream: below a field that is kept without a schema, objects become empty. */
import { JsonMap } from '../../api/json-map.ts'
import { type Fields, isFields, type Json } from '../../api/object.ts'
import type { Structural } from './structural.ts'

/** `unknown`: the paths of what was dropped, sorted. */
export type Pruned<T extends Json> = { readonly value: T; readonly unknown: readonly string[] }

/** Of a whole object, whose apiVersion, kind and metadata are not the schema's business. Never changes what it is given. */
export function pruneObject(object: Fields, schema: Structural): Pruned<Fields> {
  const { value, unknown } = prune(object, schema.isEmbedded ? schema : { ...schema, isEmbedded: true })
  return { value: isFields(value) ? value : object, unknown }
}

export function prune(value: Json, schema: Structural): Pruned<Json> {
  const unknown: string[] = []
  const pruned = pruneAt(value, schema, { path: '', unknown })
  return { value: pruned, unknown: unknown.toSorted() }
}

type Place = { readonly path: string; readonly unknown: string[] }

/** `schema` undefined: nothing is known of the value. */
function pruneAt(value: Json, schema: Structural | undefined, place: Place): Json {
  if (Array.isArray(value)) return pruneItems(value, schema, place)
  return isFields(value) ? pruneFields(value, schema, place) : value
}

function pruneItems(items: readonly Json[], schema: Structural | undefined, { path, unknown }: Place): Json {
  if (schema?.keepsUnknown === true && schema.items === undefined) return items
  const pruned = items.map((item, at) => pruneAt(item, schema?.items, { path: `${path}[${at}]`, unknown }))
  return pruned.some((item, at) => item !== items[at]) ? pruned : items
}

function pruneFields(fields: Fields, schema: Structural | undefined, { path, unknown }: Place): Json {
  let changed: { [name: string]: Json } | undefined
  for (const name of Object.keys(fields)) {
    const before = fields[name] ?? null
    const inner = { path: path === '' ? name : `${path}.${name}`, unknown }
    const after = pruneField(name, before, { schema, place: inner })
    if (after === before) continue
    changed ??= Object.assign(new JsonMap(), fields)
    if (after === undefined) delete changed[name]
    else changed[name] = after
  }
  return changed ?? fields
}

/** Undefined: it goes. */
function pruneField(
  name: string,
  value: Json,
  { schema, place }: { readonly schema: Structural | undefined; readonly place: Place },
): Json | undefined {
  if (schema?.isEmbedded === true && isMetaField(name)) return value
  const own = schema?.properties?.get(name)
  if (own !== undefined) return pruneAt(value, own, place)
  const additional = schema?.additional
  if (additional !== undefined) return pruneAt(value, typeof additional === 'object' ? additional : undefined, place)
  if (schema?.keepsUnknown === true) return value
  place.unknown.push(place.path)
  return undefined
}

/** What every object has, whatever its schema says. */
export const isMetaField = (name: string): boolean => name === 'apiVersion' || name === 'kind' || name === 'metadata'
