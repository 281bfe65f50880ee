/**
 * Drops fields that a schema does not contain. As in kube-apiserver, a value can be kept although
 * it has no schema. All fields of objects inside such a value are then dropped.
 */
import { type Fields, isFields, type Json } from '../../../api/object.ts'
import { BoundedTexts } from '../../../lib/text/bounded-texts.ts'
import { once } from '../../../lib/scheduling/parts.ts'
import type { Structural } from './structural.ts'
import { nameOf, Trail } from './trail.ts'
import { changedFields, changedItems } from './value.ts'

/**
 * Maximum total length of the paths that are reported. Beyond it, unknown fields are dropped
 * without a report.
 */
export const UNKNOWN_CHARACTERS_MAX = 1 << 20

/**
 * A value without its unknown fields. `unknown` contains the paths of the dropped fields, sorted.
 * Some are missing if the paths are very long in total.
 */
export type PrunedValue<T extends Json> = { readonly value: T; readonly unknown: readonly string[] }

/**
 * Prunes a whole object. Its apiVersion, kind and metadata stay, because the schema does not apply
 * to them. The given object is not modified.
 */
export function pruneObject(object: Fields, schema: Structural): PrunedValue<Fields> {
  const unknown = once('unknown fields of object', () => new BoundedTexts(UNKNOWN_CHARACTERS_MAX))
  const value = pruneFields(object, schema, { trail: new Trail(), unknown, isObject: true })
  return { value, unknown: unknown.all.toSorted() }
}

export function prune(value: Json, schema: Structural): PrunedValue<Json> {
  const unknown = once('unknown fields', () => new BoundedTexts(UNKNOWN_CHARACTERS_MAX))
  const pruned = pruneAt(value, schema, { trail: new Trail(), unknown })
  return { value: pruned, unknown: unknown.all.toSorted() }
}

type PruneContext = {
  readonly trail: Trail
  readonly unknown: BoundedTexts
  readonly isObject?: boolean
}

/** Prunes a value. `schema` is undefined if there is no schema for the value. */
function pruneAt(value: Json, schema: Structural | undefined, place: PruneContext): Json {
  if (Array.isArray(value)) return pruneItems(value, schema, place)
  return isFields(value) ? pruneFields(value, schema, place) : value
}

function pruneItems(
  items: readonly Json[],
  schema: Structural | undefined,
  place: PruneContext,
): Json {
  if (schema?.keepsUnknown === true && schema.items === undefined) return items
  return changedItems(items, (item, at) => pruneBelow(item, schema?.items, { place, step: at }))
}

type Step = { readonly place: PruneContext; readonly step: string | number }

function pruneBelow(value: Json, schema: Structural | undefined, { place, step }: Step): Json {
  if (typeof value !== 'object' || value === null) return value
  return pruneAt(value, schema, { trail: new Trail(place.trail, step), unknown: place.unknown })
}

function pruneFields(fields: Fields, schema: Structural | undefined, place: PruneContext): Fields {
  const isObject = schema?.isEmbedded === true || place.isObject === true
  return changedFields(fields, (value, name) =>
    isObject && isMetaField(name) ? value : pruneField(value, schema, { place, step: name }),
  )
}

/** Returns the pruned value of a field, or undefined if the field is dropped. */
function pruneField(value: Json, schema: Structural | undefined, at: Step): Json | undefined {
  const own = schema?.properties?.get(`${at.step}`)
  if (own !== undefined) return pruneBelow(value, own, at)
  const additional = schema?.additional
  if (additional !== undefined)
    return pruneBelow(value, typeof additional === 'object' ? additional : undefined, at)
  if (schema?.keepsUnknown === true) return value
  at.place.unknown.add(() => nameOf(at.place.trail.name, at.step))
  return undefined
}

/** Whether this is a field that all objects have, whatever their schema is. */
export const isMetaField = (name: string): boolean =>
  name === 'apiVersion' || name === 'kind' || name === 'metadata'
