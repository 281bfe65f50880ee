/**
 * Compares two JSON values that have the same declared type or no declared type. Policies can
 * compare a whole object with its previous state. Comparing the JSON avoids creating CEL values for
 * all parts of the objects.
 */
import { type Fields, isFields, isNumber, type Json } from '../../api/object.ts'
import { escapeName } from './escape.ts'
import type { Meter } from './functions.ts'
import { dyn, type StructType, type Type } from './types.ts'

type WorkMeter = Pick<Meter, 'work'>

/** Estimated worst-case time to visit a value. */
const VALUE_NANOS = 20
/** Estimated worst-case time to list the field names of an object. */
const OBJECT_NANOS = 300
/** Estimated worst-case time to look up a field by name. */
const FIELD_NANOS = 600

/**
 * Whether two JSON values are equal. Returns undefined if comparing the JSON is not enough.
 * Examples are times, sets, and values that do not have the declared type.
 */
export function isEqualJson(
  one: Json,
  other: Json,
  type: Type,
  meter: WorkMeter,
): boolean | undefined {
  meter.work(VALUE_NANOS)
  const { kind } = type
  if (kind === 'string')
    return typeof one === 'string' && typeof other === 'string' ? one === other : undefined
  if (kind === 'bool')
    return typeof one === 'boolean' && typeof other === 'boolean' ? one === other : undefined
  if (kind === 'int')
    return isInteger(one) && isInteger(other) ? isSameInteger(one, other) : undefined
  if (kind === 'double')
    return isNumber(one) && isNumber(other) ? Number(one) === Number(other) : undefined
  if (kind === 'dyn')
    return type.isIntOrString === true
      ? isSameIntOrString(one, other)
      : isSameDyn(one, other, meter)
  if (kind === 'list') {
    const isOrdered = type.keys === undefined && Array.isArray(one) && Array.isArray(other)
    return isOrdered ? isSameList(one, other, type.element, meter) : undefined
  }
  if (!isFields(one) || !isFields(other)) return undefined
  if (kind === 'map') return isSameMap(one, other, type.value, meter)
  return kind === 'struct' ? isSameStruct(one, other, type, meter) : undefined
}

const isInteger = (json: Json): json is number | bigint =>
  typeof json === 'bigint' || (typeof json === 'number' && Number.isInteger(json))

const isSameInteger = (one: number | bigint, other: number | bigint): boolean =>
  typeof one === typeof other ? one === other : BigInt(one) === BigInt(other)

/** Whether a value is an integer or a string. Using any other value causes an error. */
const isIntOrString = (json: Json): json is string | number | bigint =>
  typeof json === 'string' || typeof json === 'bigint' || Number.isSafeInteger(json)

function isSameIntOrString(one: Json, other: Json): boolean | undefined {
  if (!isIntOrString(one) || !isIntOrString(other)) return undefined
  if (typeof one === 'string' || typeof other === 'string') return one === other
  return isSameInteger(one, other)
}

/**
 * Compares two values without a declared type, according to their JSON types. Returns undefined if
 * a list or map is compared with another type, which the caller must report as an error.
 */
function isSameDyn(one: Json, other: Json, meter: WorkMeter): boolean | undefined {
  if (isInteger(one) && isInteger(other)) return isSameInteger(one, other)
  if (typeof one !== 'object' || one === null || other === null) return one === other
  if (Array.isArray(one))
    return Array.isArray(other) ? isSameList(one, other, dyn, meter) : undefined
  return isFields(one) && isFields(other) ? isSameMap(one, other, dyn, meter) : undefined
}

function isSameList(
  one: readonly Json[],
  other: readonly Json[],
  type: Type,
  meter: WorkMeter,
): boolean | undefined {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) {
    const same = isEqualJson(one[at] ?? null, other[at] ?? null, type, meter)
    if (same !== true) return same
  }
  return true
}

function isSameMap(one: Fields, other: Fields, type: Type, meter: WorkMeter): boolean | undefined {
  meter.work(OBJECT_NANOS)
  const [keys, others] = [Object.keys(one), Object.keys(other)]
  if (keys.length !== others.length) return false
  meter.work(keys.length * FIELD_NANOS)
  for (const [at, key] of keys.entries()) {
    // Usually both objects have the same keys in the same order, so that no lookup is needed.
    if (key !== others[at] && !Object.hasOwn(other, key)) return false
    const same = isEqualJson(one[key] ?? null, other[key] ?? null, type, meter)
    if (same !== true) return same
  }
  return true
}

/**
 * Compares structs. A null field is equivalent to an absent field, and fields that the type does
 * not have are ignored.
 */
function isSameStruct(
  one: Fields,
  other: Fields,
  type: StructType,
  meter: WorkMeter,
): boolean | undefined {
  meter.work(OBJECT_NANOS)
  const keys = Object.keys(one)
  const others = Object.keys(other).filter((key) => !Object.hasOwn(one, key))
  meter.work((keys.length + others.length) * FIELD_NANOS)
  for (const key of [...keys, ...others]) {
    const name = escapeName(key)
    const field = name === undefined ? undefined : type.field(name)
    if (field === undefined) continue
    const left = Object.hasOwn(one, key) ? (one[key] ?? null) : null
    const right = Object.hasOwn(other, key) ? (other[key] ?? null) : null
    if (left === null && right === null) continue
    if (left === null || right === null) return false
    const same = isEqualJson(left, right, field.type, meter)
    if (same !== true) return same
  }
  return true
}
