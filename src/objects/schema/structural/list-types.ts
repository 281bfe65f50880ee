/** Finds duplicates in lists: equal items in sets, and equal keys in lists of type map. */
import {
  duplicateShown,
  FAULTS_MAX,
  type FieldFault,
  invalidShown,
} from '../../../api/field-fault.ts'
import { goShown } from '../../../api/go-value.ts'
import { type Fields, fieldsOf, isFields, type Json } from '../../../api/object.ts'
import type { Slice } from '../../cel/run.ts'
import type { Turns } from '../../cel/turns.ts'
import type { Structural } from './structural.ts'
import { keyInTurns } from './value.ts'

/**
 * Returns the errors for duplicates in a value. During an update, duplicates are accepted if the
 * old value already had some.
 */
export function* validateLists(
  value: Json,
  schema: Structural,
  { old, slice }: { readonly old?: Json | undefined; readonly slice: Slice },
): Turns<FieldFault[]> {
  const faults = yield* faultsOf(value, schema, slice)
  const wasBad =
    faults.length > 0 && old !== undefined && (yield* faultsOf(old, schema, slice)).length > 0
  return wasBad ? [] : faults
}

function* faultsOf(value: Json, schema: Structural, slice: Slice): Turns<FieldFault[]> {
  const faults: FieldFault[] = []
  if (schema.holds.lists) yield* visit(value, schema, { path: '', faults, slice })
  return faults
}

type ListContext = { readonly path: string; readonly faults: FieldFault[]; readonly slice: Slice }

function* visit(value: Json, schema: Structural, place: ListContext): Turns<void> {
  if (place.faults.length >= FAULTS_MAX) return
  if (place.slice.isOver()) yield undefined
  if (Array.isArray(value)) yield* visitItems(value, schema, place)
  else if (isFields(value)) yield* visitFields(value, schema, place)
}

function* visitFields(
  fields: Fields,
  { properties, additional }: Structural,
  { path, ...place }: ListContext,
): Turns<void> {
  if (properties === undefined && typeof additional !== 'object') return
  for (const name of Object.keys(fields)) {
    const own = properties?.get(name)
    const below = own ?? additional
    if (typeof below !== 'object' || !below.holds.lists) continue
    const inner = own === undefined ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
    yield* visit(fields[name] ?? null, below, { ...place, path: inner })
  }
}

function* visitItems(items: readonly Json[], schema: Structural, place: ListContext): Turns<void> {
  const { list, items: itemSchema } = schema
  if (list?.by === 'value') yield* refuseRepeated(items, keyInTurns, place)
  else if (list?.by === 'keys') {
    const at = items.findIndex((item) => item !== null && !isFields(item))
    const why = 'must be an object for an array of list-type map'
    if (at >= 0)
      place.faults.push(invalidShown(`${place.path}[${at}]`, goShown(items[at] ?? null), why))
    else
      yield* refuseRepeated(
        items,
        (item, slice) => keysInTurns(fieldsOf(item), list.keys, slice),
        place,
        (item) => keysOf(item, list.keys),
      )
  }
  if (itemSchema === undefined || !itemSchema.holds.lists) return
  for (const [at, item] of items.entries())
    yield* visit(item, itemSchema, { ...place, path: `${place.path}[${at}]` })
}

/** Reports each value that occurs more than once. The error refers to its second occurrence. */
function* refuseRepeated(
  items: readonly Json[],
  keyOf: (item: Json, slice: Slice) => Turns<string>,
  { path, faults, slice }: ListContext,
  shown: (item: Json) => Json = (item) => item,
): Turns<void> {
  if (items.length < 2) return
  const seen = new Map<string, boolean>()
  for (const [at, item] of items.entries()) {
    if (faults.length >= FAULTS_MAX) return
    if (slice.isOver()) yield undefined
    const key = yield* keyOf(item, slice)
    if (seen.get(key) === false) faults.push(duplicateShown(`${path}[${at}]`, goShown(shown(item))))
    seen.set(key, seen.has(key))
  }
}

function* keysInTurns(item: Fields, keys: readonly string[], slice: Slice): Turns<string> {
  const parts: string[] = []
  for (const key of keys)
    parts.push(Object.hasOwn(item, key) ? yield* keyInTurns(item[key] ?? null, slice) : '')
  return parts.join()
}

function keysOf(item: Json, keys: readonly string[]): Json {
  if (!isFields(item)) return {}
  return Object.fromEntries(
    keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]),
  )
}
