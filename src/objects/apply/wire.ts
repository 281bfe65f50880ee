/**
 * Converts objects to the form in which they are serialized as JSON. It contains zero values that
 * are always serialized, and lacks empty values that are omitted. The fields that managers own are
 * those of this form, not those of the object in memory.
 */
import { type Fields, isFields, type Json, type KubeObject } from '../../api/object.ts'
import { JsonMap } from '../../api/json-map.ts'
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import { zeroOf } from '../codec/decode.ts'
import { readAny } from '../../api/json-value.ts'
import type { Field, Schema, Struct } from '../schema/schema.ts'
import { eachKey, isDivided, mapEach, once } from '../../lib/scheduling/parts.ts'
import { isNothing } from './value.ts'

/**
 * Returns the JSON form of a stored object. An empty list or map that is always serialized becomes
 * null, because stored data does not distinguish it from an absent one.
 */
export const storedWire = (object: KubeObject, struct: Struct): Fields =>
  once('stored wire', () => structWire(tracked(object), struct, null))

/** Returns the JSON form including managedFields, which is what clients receive. */
export const wholeWire = (object: Fields, struct: Struct): Fields =>
  structWire(object, struct, undefined)

/**
 * Returns a field as it appears in the result of `wholeWire`, or undefined if it is omitted there.
 */
export const wholeField = (given: Json, field: Field): Json | undefined =>
  fieldWire(given, field, undefined)

/** Returns a list item as it appears in the result of `wholeWire`. */
export const wholeItem = (item: Json, of: Schema): Json => itemWire(item, of, undefined)

/**
 * Returns the JSON form of an object that a client sent. `stored` is the object from which it was
 * created. A value that is identical (`===`) in both objects counts as a value that the client has
 * not sent.
 */
export const givenWire = (object: KubeObject, struct: Struct, stored?: KubeObject): Fields =>
  once('given wire', () => structWire(tracked(object), struct, 'given', stored))

/**
 * Returns the JSON forms of a stored object and of an object that was created from it. Fields whose
 * values are identical (`===`) in both objects are omitted, so that they need not be compared.
 */
export const changedWires = (stored: KubeObject, given: KubeObject, struct: Struct): WirePair =>
  once('changed wires', () => changedStructs(tracked(stored), tracked(given), struct))

export type WirePair = { readonly before: Fields; readonly after: Fields }

function changedStructs(stored: Fields, given: Fields, struct: Struct): WirePair {
  if (struct.open !== undefined)
    return {
      before: structWire(stored, struct, null),
      after: structWire(given, struct, 'given', stored),
    }
  const before: { [name: string]: Json } = {}
  const after: { [name: string]: Json } = {}
  for (const field of struct.fields) {
    const { name, schema } = field
    const was = stored[name] ?? null
    const is = given[name] ?? null
    if (was === is) continue
    const parts =
      schema.type === 'struct' && isFields(was) && isFields(is)
        ? changedStructs(was, is, schema)
        : undefined
    const isOldSame = parts !== undefined && isNothing(parts.before)
    const isNewSame = parts !== undefined && isNothing(parts.after)
    if (isOldSame && isNewSame) continue
    // Only one of the two structs, the old or the new one, has fields that differ. So only their
    // complete forms show whether the field is serialized.
    const isPart = !isOldSame && !isNewSame
    const old = isPart && parts ? parts.before : fieldWire(was, field, null)
    const shown = isPart && parts ? parts.after : fieldWire(is, field, 'given', was)
    if (old !== undefined) before[name] = old
    if (shown !== undefined) after[name] = shown
  }
  return { before, after }
}

/** Returns the object without managedFields. Ownership of managedFields itself is not tracked. */
function tracked(object: KubeObject): KubeObject {
  const { managedFields, ...metadata } = object.metadata
  return managedFields === undefined ? object : { ...object, metadata }
}

/**
 * Returns the JSON form of an object that was converted from another version. Empty lists are kept,
 * because kube-apiserver compares such objects before they are serialized.
 */
export const convertedWire = (object: KubeObject, struct: Struct): Fields =>
  structWire(tracked(object), struct, 'kept')

/**
 * How empty lists and maps are written:
 * - null: as null, if the field is always serialized.
 * - undefined and 'given': unchanged, if the field is always serialized.
 * - 'kept': like 'given', and empty lists are also kept where they would be omitted.
 * - 'listed': like 'kept', and empty maps are also kept. Used in objects from clients for the items
 *   of atomic lists, because Go compares these items in memory, where an empty list or map differs
 *   from an absent one.
 */
type Empty = null | undefined | 'given' | 'listed' | 'kept'

function structWire(value: Fields, struct: Struct, empty: Empty, stored?: Fields): Fields {
  const wire: { [name: string]: Json } = struct.open !== undefined ? openWire(value, struct) : {}
  for (const field of struct.fields) {
    const given = value[field.name] ?? null
    const was = stored?.[field.name]
    const shown = fieldWire(given, field, given === was ? null : empty, was)
    if (shown !== undefined) wire[field.name] = shown
  }
  return wire
}

/**
 * Returns the fields of a custom object that its schema does not declare. They are not converted.
 */
function openWire(value: Fields, { byName }: Struct): { [name: string]: Json } {
  const wire = new JsonMap()
  for (const [name, field] of Object.entries(value))
    if (field !== undefined && !byName.has(name)) wire[name] = field
  return wire
}

/** Returns the JSON form of a field, or undefined if the field is omitted. */
function fieldWire(given: Json, field: Field, empty: Empty, stored?: Json): Json | undefined {
  const { schema, omit, isPointer } = field
  if (given === null) return omit === 'never' ? zeroWire(schema, isPointer) : undefined
  const wire =
    isFields(stored) && isFields(given) && schema.type === 'struct' && given !== stored
      ? structWire(given, schema, empty, stored)
      : valueWire(given, schema, empty === 'given' && isAtomicList(field) ? 'listed' : empty)
  if (omit === 'absent' || isPointer || !isEmpty(wire)) return wire
  if (omit === 'empty') return isKept(schema, empty) ? wire : undefined
  return empty === null && (schema.type === 'list' || schema.type === 'map') ? null : wire
}

const isAtomicList = ({ schema, topology }: Field): boolean =>
  schema.type === 'list' && topology?.type !== 'set' && topology?.type !== 'map'

const isKept = ({ type }: Schema, empty: Empty): boolean =>
  type === 'list' ? empty === 'kept' || empty === 'listed' : type === 'map' && empty === 'listed'

/** Whether a value is empty or zero. Null does not count as empty here. */
const isEmpty = (value: Json): boolean =>
  typeof value === 'object'
    ? value !== null && isNothing(value)
    : value === '' || value === 0 || value === false

function valueWire(value: Json, schema: Schema, empty: Empty): Json {
  switch (schema.type) {
    case 'struct':
      return structWire(isFields(value) ? value : {}, schema, empty)
    case 'list':
      return isPlain(schema.of) || !Array.isArray(value)
        ? value
        : mapEach('wire of items', value, (item: Json) => itemWire(item, schema.of, empty))
    case 'map': {
      if (isPlain(schema.of) || !isFields(value)) return value
      if (isDivided()) {
        return eachKey(
          'wire of map',
          value,
          (): JsonMap => new JsonMap(),
          (made, key) => {
            made[key] = itemWire(value[key] ?? null, schema.of, empty)
            return true
          },
        )
      }
      const wire = new JsonMap()
      for (const [key, item = null] of Object.entries(value))
        wire[key] = itemWire(item, schema.of, empty)
      return wire
    }
    case 'raw':
      return typeof value === 'string' ? rawWire(value) : value
    case 'any':
    case 'string':
    case 'bytes':
    case 'boolean':
    case 'int32':
    case 'int64':
    case 'float64':
    case 'time':
    case 'microTime':
    case 'quantity':
    case 'intOrString':
      return value
  }
}

/**
 * Parses JSON that is stored as text. If it is nested too deeply, or if a number cannot be
 * represented, the whole text counts as a single value.
 */
function rawWire(text: string): Json {
  try {
    return readAny(new JsonScanner(text))
  } catch (error) {
    if (error instanceof JsonSyntaxError) return text
    throw error
  }
}

const itemWire = (item: Json, of: Schema, empty: Empty): Json =>
  item === null ? zeroWire(of, false) : valueWire(item, of, empty)

/**
 * Whether values of a type need no conversion, because their JSON form is the same as in memory.
 */
const isPlain = ({ type }: Schema): boolean =>
  type !== 'struct' && type !== 'list' && type !== 'map' && type !== 'raw'

function zeroWire(schema: Schema, isPointer: boolean): Json {
  if (isPointer) return null
  return schema.type === 'struct' ? structWire({}, schema, null) : zeroOf(schema)
}
