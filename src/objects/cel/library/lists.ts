/** The list functions that Kubernetes adds, and functions for sets. */
import { add } from '../arithmetic.ts'
import { compare, isEqual } from '../compare.ts'
import { deepTraversal, sizeOf, TEXT_FACTOR } from '../cost.ts'
import type { Library } from '../environment.ts'
import { type Estimate, type FunctionPart, global, type Meter, member } from '../functions.ts'
import { fixed, plus, scaled, times } from '../ranges.ts'
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  list,
  parameter,
  string,
  timestamp,
  type Type,
  uint,
} from '../types.ts'
import {
  CelError,
  Duration,
  isList,
  itemsOf,
  type ListValue,
  noSuchOverload,
  type Result,
  Uint,
  type Value,
} from '../values.ts'

const T = parameter('T')

/**
 * Estimates a cost of one per item. For a string or bytes, adds the cost of visiting its
 * characters.
 */
const traversing: Estimate = ([items]) => {
  if (items === undefined) return undefined
  const element = items.type.kind === 'list' ? items.type.element.kind : undefined
  const isText = element === 'string' || element === 'bytes'
  const each = plus(fixed(1), isText ? scaled(items.elementSize(), TEXT_FACTOR) : fixed(0))
  return { cost: times(items.size, each) }
}
const costs = {
  isLong: true,
  estimate: traversing,
  cost: ([items = null]: readonly Value[]) => deepTraversal(items),
}

/**
 * The types whose values have an order. The name of each type is a part of the IDs of overloads.
 */
export const comparable: readonly (readonly [string, Type])[] = [
  ['int', int],
  ['uint', uint],
  ['double', double],
  ['bool', bool],
  ['duration', duration],
  ['timestamp', timestamp],
  ['string', string],
  ['bytes', bytes],
]
const summable: readonly (readonly [string, Type, Value])[] = [
  ['int', int, 0n],
  ['uint', uint, new Uint(0n)],
  ['double', double, 0],
  ['duration', duration, new Duration(0n)],
]

const onList =
  (run: (items: ListValue, meter: Meter) => Result): FunctionPart['run'] =>
  (items, _, __, ___, meter) => {
    if (!isList(items)) return noSuchOverload
    meter.work(items.size * ITEM_NANOS)
    return run(items, meter)
  }

/** Estimated time to visit an item. */
const ITEM_NANOS = 120

/**
 * Whether a list is sorted. Two neighboring items of different types count as sorted if each of the
 * types has an order.
 */
function isSorted(items: ListValue): Result {
  for (let at = 0; at < items.size; at++) {
    const item = items.at(at)
    if (!hasOrder(item)) return noSuchOverload
    if (at > 0 && (compare(items.at(at - 1), item) ?? 0) > 0) return false
  }
  return true
}

/** Whether values of this type have an order. */
const hasOrder = (value: Value): boolean => compare(value, value) !== undefined

function sum(items: ListValue, meter: Meter): Result {
  if (items.size === 0) return 0n
  let total: Result = items.at(0)
  for (let at = 1; at < items.size && !(total instanceof CelError); at++)
    total = add(total, items.at(at), meter)
  return total
}

const extreme =
  (name: string, sign: number) =>
  (items: ListValue): Result => {
    if (items.size === 0) return new CelError(`${name} called on empty list`)
    let best = items.at(0)
    for (const item of itemsOf(items)) {
      if (!hasOrder(item)) return noSuchOverload
      if ((compare(item, best) ?? 0) * sign > 0) best = item
    }
    return best
  }

function indexOf(items: ListValue, wanted: Value, meter: Meter): bigint {
  for (let at = 0; at < items.size; at++)
    if (isEqual(items.at(at), wanted, meter)) return BigInt(at)
  return -1n
}

function lastIndexOf(items: ListValue, wanted: Value, meter: Meter): bigint {
  for (let at = items.size - 1; at >= 0; at--)
    if (isEqual(items.at(at), wanted, meter)) return BigInt(at)
  return -1n
}

export const listsLibrary: Library = {
  functions: [
    {
      name: 'isSorted',
      overloads: comparable.map(([id, type]) =>
        member(`list_${id}_is_sorted_bool`, [list(type)], bool),
      ),
      run: onList(isSorted),
      ...costs,
    },
    {
      name: 'sum',
      overloads: summable.map(([id, type]) => member(`list_${id}_sum_${id}`, [list(type)], type)),
      run: onList(sum),
      ...costs,
    },
    {
      name: 'max',
      overloads: comparable.map(([id, type]) => member(`list_${id}_max_${id}`, [list(type)], type)),
      run: onList(extreme('max', 1)),
      ...costs,
    },
    {
      name: 'min',
      overloads: comparable.map(([id, type]) => member(`list_${id}_min_${id}`, [list(type)], type)),
      run: onList(extreme('min', -1)),
      ...costs,
    },
    {
      name: 'indexOf',
      overloads: [member('list_a_index_of_int', [list(T), T], int)],
      run: (items, wanted, _, __, meter) =>
        isList(items) ? indexOf(items, wanted, meter) : noSuchOverload,
      ...costs,
    },
    {
      name: 'lastIndexOf',
      overloads: [member('list_a_last_index_of_int', [list(T), T], int)],
      run: (items, wanted, _, __, meter) =>
        isList(items) ? lastIndexOf(items, wanted, meter) : noSuchOverload,
      ...costs,
    },
  ],
}

/**
 * The function `includes`: whether a list contains an item. If the first value is not a list, it is
 * treated as a list with one item.
 */
export const includesLibrary: Library = {
  functions: [
    {
      name: 'includes',
      overloads: [member('list_includes_dyn_dyn', [dyn, dyn], bool)],
      isLong: true,
      run: (items, wanted, _, __, meter) =>
        isList(items) ? indexOf(items, wanted, meter) !== -1n : isEqual(items, wanted, meter),
      estimate: traversing,
      cost: ([items = null]) => deepTraversal(items),
    },
  ],
}

const containsAll = (one: ListValue, other: ListValue, meter: Meter): boolean => {
  for (const item of itemsOf(other)) if (indexOf(one, item, meter) === -1n) return false
  return true
}

/**
 * Returns the cost of a function that compares each item of one list with each item of another
 * list. `passes` is the number of times that it does so.
 */
const comparingAll = (passes: number): Pick<FunctionPart, 'estimate' | 'cost'> => ({
  estimate: ([one, other]) =>
    one === undefined || other === undefined
      ? undefined
      : { cost: plus(scaled(times(one.size, other.size), passes), fixed(1)) },
  cost: ([one = null, other = null]) => sizeOf(one) * sizeOf(other) * passes + 1,
})

const setFunction = (
  name: string,
  passes: number,
  run: (one: ListValue, other: ListValue, meter: Meter) => boolean,
): FunctionPart => ({
  name: `sets.${name}`,
  overloads: [global(`list_sets_${name}_list`, [list(T), list(T)], bool)],
  isLong: true,
  run: (one, other, _, __, meter) =>
    isList(one) && isList(other) ? run(one, other, meter) : noSuchOverload,
  ...comparingAll(passes),
})

export const setsLibrary: Library = {
  functions: [
    setFunction('contains', 1, containsAll),
    setFunction(
      'equivalent',
      2,
      (one, other, meter) => containsAll(one, other, meter) && containsAll(other, one, meter),
    ),
    setFunction('intersects', 1, (one, other, meter) => {
      for (const item of itemsOf(other)) if (indexOf(one, item, meter) !== -1n) return true
      return false
    }),
  ],
}
