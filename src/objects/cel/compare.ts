/**
 * Equality, which all values support, and order, which numbers, strings, times and a few other
 * types support.
 */
import { MERGED_CHARACTER_NANOS, MERGED_NANOS } from './arithmetic.ts'
import type { Meter } from './functions.ts'
import {
  Duration,
  isList,
  isMap,
  isOpaque,
  isStruct,
  itemsOf,
  type ListValue,
  type MapValue,
  noSuchOverload,
  Optional,
  type StructValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
  CelError,
} from './values.ts'

type WorkMeter = Pick<Meter, 'work'>

/** Estimated time to visit a value. */
const VALUE_NANOS = 60
/** Estimated time to look up a field by name. */
const FIELD_NANOS = 250

/** Does the same as `equal`, but returns false if the values cannot be compared. */
export const isEqual = (one: Value, other: Value, meter: WorkMeter): boolean =>
  equal(one, other, meter) === true

/**
 * Whether two values are equal. Values of different types are not equal, except for numbers, which
 * are compared by value. If the left operand is a library value, or a list or map from an object, a
 * right operand of another type causes an error.
 */
export function equal(one: Value, other: Value, meter: WorkMeter): boolean | CelError {
  meter.work(VALUE_NANOS)
  if (one === other) return true
  const left = numberOf(one)
  if (left !== undefined) {
    const right = numberOf(other)
    return right !== undefined && compareNumbers(left, right) === 0
  }
  if (typeof one !== 'object' || one === null || other === null) return false
  if (one instanceof Timestamp) return other instanceof Timestamp && one.nanos === other.nanos
  if (one instanceof Duration) return other instanceof Duration && one.nanos === other.nanos
  if (one instanceof TypeValue) return other instanceof TypeValue && one.name === other.name
  if (one instanceof Uint8Array)
    return other instanceof Uint8Array && compareBytes(one, other) === 0
  if (one instanceof Optional) return other instanceof Optional && equalOptional(one, other, meter)
  const known = 'equalsJson' in one ? one.equalsJson?.(other, meter) : undefined
  if (known !== undefined) return known
  if (isList(one)) return isList(other) ? equalList(one, other, meter) : otherType(one)
  if (isMap(one)) return isMap(other) ? equalMap(one, other, meter) : otherType(one)
  if (isStruct(one)) return isStruct(other) ? equalStruct(one, other, meter) : noSuchOverload
  if (!isOpaque(one) || !isOpaque(other) || one.typeName !== other.typeName) return noSuchOverload
  return one.isSame(other)
}

const otherType = ({ isOfObject }: ListValue | MapValue): boolean | CelError =>
  isOfObject === true ? noSuchOverload : false

function equalOptional(one: Optional, other: Optional, meter: WorkMeter): boolean | CelError {
  if (one.value === undefined || other.value === undefined) return one.value === other.value
  return equal(one.value, other.value, meter)
}

/**
 * Compares lists. If both lists are created by the expression, items that cannot be compared count
 * as equal.
 */
function equalList(one: ListValue, other: ListValue, meter: WorkMeter): boolean | CelError {
  if (one.size !== other.size) return false
  if (one.identity !== undefined) return isSameSet(one, other, { identity: one.identity, meter })
  for (let at = 0; at < one.size; at++) {
    const same = equal(one.at(at), other.at(at), meter)
    if (same === false || (same !== true && one.isOfObject === true)) return same
  }
  return true
}

type Sameness = { readonly identity: (item: Value) => string; readonly meter: WorkMeter }

function isSameSet(
  one: ListValue,
  other: ListValue,
  { identity, meter }: Sameness,
): boolean | CelError {
  const items = new Map<string, Value>()
  // Charges twice the time, because the items of the other list are processed in the same way
  // below.
  meter.work(2 * one.size * MERGED_NANOS)
  for (const item of itemsOf(one)) {
    const text = identity(item)
    meter.work(2 * text.length * MERGED_CHARACTER_NANOS)
    items.set(text, item)
  }
  for (const item of itemsOf(other)) {
    const mine = items.get(identity(item))
    if (mine === undefined) return false
    const same = equal(mine, item, meter)
    if (same !== true) return same
  }
  return true
}

function equalMap(one: MapValue, other: MapValue, meter: WorkMeter): boolean | CelError {
  if (one.size !== other.size) return false
  meter.work(one.size * FIELD_NANOS)
  for (const key of one.keys()) {
    const [left, right] = [one.get(key), other.get(key)]
    if (left === undefined || right === undefined) return false
    const same = equal(left, right, meter)
    if (same === false || (same !== true && one.isOfObject === true)) return same
  }
  return true
}

function equalStruct(one: StructValue, other: StructValue, meter: WorkMeter): boolean | CelError {
  if (one.typeName !== other.typeName) return false
  for (const field of new Set([...one.fields(), ...other.fields()])) {
    meter.work(2 * FIELD_NANOS)
    const [left, right] = [one.get(field), other.get(field)]
    if (left === undefined || right === undefined) {
      if (left !== right) return false
      continue
    }
    if (left instanceof CelError || right instanceof CelError) return false
    const same = equal(left, right, meter)
    if (same !== true) return same
  }
  return true
}

const numberOf = (value: Value): bigint | number | undefined =>
  typeof value === 'bigint' || typeof value === 'number'
    ? value
    : value instanceof Uint
      ? value.value
      : undefined

/**
 * Returns a negative number, zero or a positive number. Returns NaN if one value is NaN, and
 * undefined if values of these types have no order.
 */
export function compare(one: Value, other: Value): number | undefined {
  const left = numberOf(one)
  if (left !== undefined) {
    const right = numberOf(other)
    return right === undefined ? undefined : compareNumbers(left, right)
  }
  if (typeof one === 'string')
    return typeof other === 'string' ? compareStrings(one, other) : undefined
  if (typeof one === 'boolean')
    return typeof other === 'boolean' ? Number(one) - Number(other) : undefined
  if (one instanceof Timestamp)
    return other instanceof Timestamp ? order(one.nanos, other.nanos) : undefined
  if (one instanceof Duration)
    return other instanceof Duration ? order(one.nanos, other.nanos) : undefined
  if (one instanceof Uint8Array)
    return other instanceof Uint8Array ? compareBytes(one, other) : undefined
  return undefined
}

/**
 * Compares two numbers. As in cel-go, an int and a double are compared as doubles, although this is
 * not exact. NaN has no order.
 */
function compareNumbers(one: bigint | number, other: bigint | number): number {
  if (typeof one === typeof other)
    return one < other ? -1 : one > other ? 1 : one === other ? 0 : Number.NaN
  const [left, right] = [Number(one), Number(other)]
  return left < right ? -1 : left > right ? 1 : left === right ? 0 : Number.NaN
}

const order = (one: bigint, other: bigint): number => (one < other ? -1 : one > other ? 1 : 0)

function compareBytes(one: Uint8Array, other: Uint8Array): number {
  const shared = Math.min(one.length, other.length)
  for (let at = 0; at < shared; at++) {
    const difference = (one[at] ?? 0) - (other[at] ?? 0)
    if (difference !== 0) return difference
  }
  return one.length - other.length
}

/** Compares strings by code point, as Go does. JavaScript would compare UTF-16 code units. */
export function compareStrings(one: string, other: string): number {
  const shared = Math.min(one.length, other.length)
  for (let at = 0; at < shared; at++) {
    const [left, right] = [one.charCodeAt(at), other.charCodeAt(at)]
    if (left !== right) return surrogatesLast(left) - surrogatesLast(right)
  }
  return one.length - other.length
}

const surrogatesLast = (unit: number): number =>
  unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
