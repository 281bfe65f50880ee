/**
 * Arithmetic operators, which also concatenate strings and lists, and add times and durations. An
 * overflow is an error.
 */
import type { Meter } from './functions.ts'
import { durationOf, timestampOf } from './time.ts'
import {
  ArrayList,
  CelError,
  Duration,
  isList,
  itemsOf,
  type ListValue,
  noSuchOverload,
  type Result,
  Timestamp,
  Uint,
  type Value,
} from './values.ts'

const INT_MIN = -(2n ** 63n)
const INT_MAX = 2n ** 63n - 1n
const UINT_MAX = 2n ** 64n - 1n

const overflow = new CelError('integer overflow')
const unsignedOverflow = new CelError('unsigned integer overflow')
const divisionByZero = new CelError('division by zero')
const modulusByZero = new CelError('modulus by zero')

export const intOf = (value: bigint): Result =>
  value < INT_MIN || value > INT_MAX ? overflow : value
export const uintOf = (value: bigint): Result =>
  value < 0n || value > UINT_MAX ? unsignedOverflow : new Uint(value)

export function add(one: Value, other: Value, meter: Pick<Meter, 'work'>): Result {
  if (typeof one === 'bigint' && typeof other === 'bigint') return intOf(one + other)
  if (typeof one === 'string' && typeof other === 'string') return one + other
  if (typeof one === 'number' && typeof other === 'number') return one + other
  if (one instanceof Uint && other instanceof Uint) return uintOf(one.value + other.value)
  if (one instanceof Uint8Array && other instanceof Uint8Array) return joinBytes(one, other)
  if (one instanceof Duration && other instanceof Duration)
    return durationOf(one.nanos + other.nanos)
  if (one instanceof Timestamp && other instanceof Duration)
    return timestampOf(one.nanos + other.nanos, one.offsetMinutes)
  if (one instanceof Duration && other instanceof Timestamp) return add(other, one, meter)
  return isList(one) && isList(other) ? joinLists(one, other, meter) : noSuchOverload
}

function joinBytes(one: Uint8Array, other: Uint8Array): Uint8Array {
  const joined = new Uint8Array(one.length + other.length)
  joined.set(one)
  joined.set(other, one.length)
  return joined
}

function joinLists(one: ListValue, other: ListValue, meter: Pick<Meter, 'work'>): Value {
  if (one.identity !== undefined) return merge(one, other, { identity: one.identity, meter })
  if (other.size === 0) return one
  meter.work((other.size + (one instanceof ArrayList && one.isLast ? 0 : one.size)) * ITEM_NANOS)
  return (one instanceof ArrayList ? one : new ArrayList([...itemsOf(one)])).concat(other)
}

type Merge = { readonly identity: (item: Value) => string; readonly meter: Pick<Meter, 'work'> }

/** Estimated time to copy an item. */
const ITEM_NANOS = 100
/** Estimated time to add an item to a set: formatting the item and looking it up. */
export const MERGED_NANOS = 600
/** Estimated additional time per character of the text that identifies an item of a set. */
export const MERGED_CHARACTER_NANOS = 5

/**
 * Merges two lists of type set or map. Items of the second list replace items of the first list
 * with the same identity. Other items are appended.
 */
function merge(one: ListValue, other: ListValue, { identity, meter }: Merge): ListValue {
  const items = new Map<string, Value>()
  // Charge the expected time before the work begins, so that too much work is not even started.
  meter.work((one.size + other.size) * MERGED_NANOS)
  for (const list of [one, other]) {
    for (const item of itemsOf(list)) {
      const text = identity(item)
      meter.work(text.length * MERGED_CHARACTER_NANOS)
      items.set(text, item)
    }
  }
  return new MergedList([...items.values()], identity)
}

class MergedList implements ListValue {
  readonly isList = true
  readonly identity: (item: Value) => string
  readonly #items: readonly Value[]

  constructor(items: readonly Value[], identity: (item: Value) => string) {
    this.#items = items
    this.identity = identity
  }

  get size(): number {
    return this.#items.length
  }

  at(index: number): Value {
    return this.#items[index] ?? null
  }
}

export function subtract(one: Value, other: Value): Result {
  if (typeof one === 'bigint' && typeof other === 'bigint') return intOf(one - other)
  if (typeof one === 'number' && typeof other === 'number') return one - other
  if (one instanceof Uint && other instanceof Uint) return uintOf(one.value - other.value)
  if (one instanceof Duration && other instanceof Duration)
    return durationOf(one.nanos - other.nanos)
  if (one instanceof Timestamp && other instanceof Duration)
    return timestampOf(one.nanos - other.nanos, one.offsetMinutes)
  if (one instanceof Timestamp && other instanceof Timestamp)
    return durationOf(one.nanos - other.nanos)
  return noSuchOverload
}

export function multiply(one: Value, other: Value): Result {
  if (typeof one === 'bigint' && typeof other === 'bigint') return intOf(one * other)
  if (typeof one === 'number' && typeof other === 'number') return one * other
  return one instanceof Uint && other instanceof Uint
    ? uintOf(one.value * other.value)
    : noSuchOverload
}

export function divide(one: Value, other: Value): Result {
  if (typeof one === 'number' && typeof other === 'number') return one / other
  if (typeof one === 'bigint' && typeof other === 'bigint')
    return other === 0n ? divisionByZero : intOf(one / other)
  if (!(one instanceof Uint && other instanceof Uint)) return noSuchOverload
  return other.value === 0n ? divisionByZero : new Uint(one.value / other.value)
}

export function remainder(one: Value, other: Value): Result {
  if (typeof one === 'bigint' && typeof other === 'bigint')
    return other === 0n ? modulusByZero : one % other
  if (!(one instanceof Uint && other instanceof Uint)) return noSuchOverload
  return other.value === 0n ? modulusByZero : new Uint(one.value % other.value)
}

export function negate(value: Value): Result {
  if (typeof value === 'bigint') return intOf(-value)
  return typeof value === 'number' ? -value : noSuchOverload
}
