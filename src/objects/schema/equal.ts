/** Compares two decoded values. Some functions use the schema of the values, others do not. */
import { nanosOf } from '../../api/quantity.ts'
import { type Fields, fieldsOf, isFields, type Json } from '../../api/object.ts'
import { joinedInParts } from '../../lib/scheduling/join-in-parts.ts'
import { everyItem, everyKey, isDivided, once } from '../../lib/scheduling/parts.ts'
import type { Schema, Struct } from './schema.ts'

/**
 * Whether two values are equal. The schema is not known, so an empty list, an empty map, an empty
 * struct and an absent value are all equal.
 */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  const isOtherNothing = isNothing(other)
  if (isNothing(one)) return isOtherNothing
  if (isOtherNothing) return false
  if (Array.isArray(one) && Array.isArray(other)) {
    return (
      one.length === other.length &&
      everyItem('same items', one, (item: Json, at) => isSame(item, other[at]))
    )
  }
  if (!isFields(one) || !isFields(other)) return false
  if (isDivided()) {
    if (!everyKey('same fields', one, (key) => isSame(one[key], own(other, key)))) return false
    return everyKey(
      'same absent fields',
      other,
      (key) => Object.hasOwn(one, key) || isNothing(other[key]),
    )
  }
  for (const key in one) if (!isSame(one[key], own(other, key))) return false
  for (const key in other) if (!Object.hasOwn(one, key) && !isNothing(other[key])) return false
  return true
}

/**
 * Returns a text that is the same for two values if `isSame` returns true for them, and otherwise
 * different.
 */
export function identityOf(value: Json | undefined): string {
  if (isNothing(value)) return 'null'
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return `[${joinedInParts(value, identityOf)}]`
  if (!isFields(value)) return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, field]) => !isNothing(field))
  const printed = entries.map(([key, field]) => `${JSON.stringify(key)}:${identityOf(field)}`)
  return `{${printed.toSorted().join()}}`
}

/**
 * Kinds of equality, based on Go's types.
 * - `semantic` is the equality that Kubernetes uses for API objects: an empty list or map equals
 *   nil, and quantities are compared by value. A pointer never equals a nil pointer.
 * - `exact` (reflect.DeepEqual) distinguishes an empty list or map from nil. Stored objects contain
 *   nil instead of empty lists and maps.
 */
export type Equality = 'semantic' | 'exact'

export function isEqual(
  schema: Schema,
  now: Json | undefined,
  stored: Json | undefined,
  equality: Equality = 'semantic',
): boolean {
  if (now === stored) return true
  switch (schema.type) {
    case 'struct':
      return isEqualStruct(
        schema,
        isFields(now) ? now : {},
        isFields(stored) ? stored : {},
        equality,
      )
    case 'list': {
      const items = listOf(now)
      const others = listOf(stored) ?? []
      if (items === undefined || items.length === 0) {
        return others.length === 0 && (equality === 'semantic' || items === undefined)
      }
      return (
        items.length === others.length &&
        everyItem('equal items', items, (item, at) =>
          isEqual(schema.of, item, others[at], equality),
        )
      )
    }
    case 'map': {
      const keys = isFields(now) ? once('keys of map', () => Object.keys(now)) : undefined
      const others = isFields(stored) ? stored : {}
      if (keys === undefined || keys.length === 0) {
        return Object.keys(others).length === 0 && (equality === 'semantic' || keys === undefined)
      }
      if (keys.length !== Object.keys(others).length) return false
      return everyItem(
        'equal entries',
        keys,
        (key) =>
          Object.hasOwn(others, key) &&
          isEqual(schema.of, fieldsOf(now)[key], others[key], equality),
      )
    }
    case 'quantity':
      return nanosOf(textOf(now)) === nanosOf(textOf(stored))
    case 'bytes':
      return (
        (equality === 'semantic' || isNull(now) === isNull(stored)) &&
        isSame(unlessZero(now), unlessZero(stored))
      )
    case 'any':
    case 'raw':
    case 'string':
    case 'boolean':
    case 'int32':
    case 'int64':
    case 'float64':
    case 'time':
    case 'microTime':
    case 'intOrString':
      return isSame(unlessZero(now), unlessZero(stored))
  }
}

function isEqualStruct(
  { fields }: Struct,
  now: Fields,
  stored: Fields,
  equality: Equality,
): boolean {
  for (const { name, schema, isPointer } of fields) {
    const value = own(now, name)
    const otherValue = own(stored, name)
    if (value === otherValue) continue
    if (isPointer && (isAbsent(value) || isAbsent(otherValue))) {
      if (isAbsent(value) !== isAbsent(otherValue)) return false
      continue
    }
    if (!isEqual(schema, value, otherValue, equality)) return false
  }
  return true
}

const own = (fields: Fields, key: string): Json | undefined =>
  Object.hasOwn(fields, key) ? fields[key] : undefined

const isNull = (value: Json | undefined): boolean => value === null

const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null

/**
 * Converts zero values of scalars to undefined. In Go, an absent scalar has its zero value, unless
 * it is a pointer. `isEqualStruct` handles pointers.
 */
const unlessZero = (value: Json | undefined): Json | undefined =>
  value === '' || value === 0 || value === false ? undefined : value

const listOf = (value: Json | undefined): readonly Json[] | undefined =>
  Array.isArray(value) ? value : undefined

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

function isNothing(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true
  if (typeof value !== 'object') return false
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}
