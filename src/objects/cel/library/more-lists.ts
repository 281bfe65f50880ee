/** The list functions of version 3 of CEL's own library. Kubernetes has had them since 1.34. */
import { compare, isEqual } from '../compare.ts'
import { LIST_COST, sizeOf, TEXT_FACTOR } from '../cost.ts'
import type { Library } from '../environment.ts'
import {
  type CallEstimate,
  type FunctionPart,
  global,
  member,
  type Meter,
  type Operand,
  type Range,
} from '../functions.ts'
import { sortingMacros } from '../macros.ts'
import { fixed, larger, plus, scaled, times, UNBOUNDED, unknownSize } from '../ranges.ts'
import { dyn, int, list, parameter } from '../types.ts'
import {
  ArrayList,
  CelError,
  isList,
  itemsOf,
  type ListValue,
  noSuchOverload,
  type Result,
  type Value,
} from '../values.ts'
import { comparable } from './lists.ts'

const T = parameter('T')
/** Estimated time to visit an item. */
const ITEM_NANOS = 120
/**
 * Maximum number of items that a call compares with each other. A call with more items has a cost
 * of at least 2,000,000, which exceeds the limit of any expression. So its result is never used.
 */
const COMPARED_MAX = 1_000
/** Cost of a comparison of two items. */
const COMPARISON_COST = 2

/** Returns the cost of a call that creates a list. */
const creating = (cost: number): number => Math.floor(cost) + 1 + LIST_COST

const estimateCreating = (size: Range, factor = 1): CallEstimate => ({
  cost: plus(scaled(size, factor), fixed(1 + LIST_COST)),
  size,
})

const sizeAt = (operands: readonly Operand[], at: number): Range =>
  operands[at]?.size ?? unknownSize

/** Returns the value of an argument if it is a constant integer. A negative value counts as 0. */
function constantAt(operands: readonly Operand[], at: number): bigint | undefined {
  const expr = operands[at]?.expr
  if (expr?.kind !== 'literal' || typeof expr.value !== 'bigint') return undefined
  return larger(0n, expr.value)
}

const squared = (size: Range): Range => times(size, size)

/** Returns the cost of comparing all items of a list with each other. */
function costOfComparing(items: Value): number {
  const size = sizeOf(items)
  const first = isList(items) && size > 0 ? items.at(0) : null
  const isText = typeof first === 'string' || first instanceof Uint8Array
  return creating(size * size * (isText ? COMPARISON_COST + TEXT_FACTOR : COMPARISON_COST))
}

/**
 * Wraps the implementation of a list function. The time to visit all items is charged before the
 * call.
 */
const onList =
  (run: (items: ListValue, argument: Value, meter: Meter) => Result): FunctionPart['run'] =>
  (items, argument, _, __, meter) => {
    if (!isList(items)) return noSuchOverload
    meter.work(items.size * ITEM_NANOS)
    return run(items, argument, meter)
  }

function slice(items: ListValue, from: bigint, to: bigint, meter: Meter): Result {
  const call = `cannot slice(${from}, ${to})`
  if (from < 0n || to < 0n) return new CelError(`${call}, negative indexes not supported`)
  if (from > to) return new CelError(`${call}, start index must be less than or equal to end index`)
  if (to > items.size) return new CelError(`${call}, list is length ${items.size}`)
  meter.work(Number(to - from) * ITEM_NANOS)
  const chosen: Value[] = []
  for (let at = Number(from); at < Number(to); at++) chosen.push(items.at(at))
  return new ArrayList(chosen)
}

/**
 * Appends items to `flat`. If an item is a list, its items are appended instead, up to this depth.
 */
function flatten(items: ListValue, depth: bigint, flat: Value[], meter: Meter): void {
  // The same list can occur several times in `items`, so the result can be much longer than the
  // cost suggests.
  meter.work(items.size * ITEM_NANOS)
  for (const item of itemsOf(items)) {
    if (isList(item) && depth > 0n) flatten(item, depth - 1n, flat, meter)
    else flat.push(item)
  }
}

function distinct(items: ListValue, _: Value, meter: Meter): Result {
  if (items.size > COMPARED_MAX) return items
  const found: Value[] = []
  for (const item of itemsOf(items)) {
    meter.work(found.length * ITEM_NANOS)
    // Bounded: the list has at most COMPARED_MAX items.
    if (!found.some((one) => isEqual(item, one, meter))) found.push(item)
  }
  return new ArrayList(found)
}

const otherType = new CelError('list elements must have the same type')

/** Sorts a list by the order of its keys. Items with equal keys stay in their order. */
function sortBy(items: ListValue, keys: ListValue, meter: Meter): Result {
  if (items.size !== keys.size) {
    const sizes = `${items.size} and ${keys.size} elements respectively`
    return new CelError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${sizes}`,
    )
  }
  if (items.size > COMPARED_MAX || items.size === 0) return items
  const first = keys.at(0)
  if (compare(first, first) === undefined) return new CelError('list elements must be comparable')
  meter.work(items.size * Math.ceil(Math.log2(items.size + 1)) * ITEM_NANOS)
  const pairs = Array.from({ length: items.size }, (_, at) => ({
    item: items.at(at),
    key: keys.at(at),
  }))
  if (pairs.length > 1 && pairs.some(({ key }) => kindOf(key) !== kindOf(first))) return otherType
  return new ArrayList(
    pairs.toSorted((one, other) => compare(one.key, other.key) ?? 0).map(({ item }) => item),
  )
}

/** Returns a value that is the same for all values of a type. */
const kindOf = (value: Value): unknown =>
  typeof value === 'object' && value !== null ? value.constructor : typeof value

/** The integers below a number. The items are not stored, so that a large range needs no memory. */
class IntegerRange implements ListValue {
  readonly isList = true
  readonly size: number
  readonly identity = undefined

  constructor(size: number) {
    this.size = size
  }

  at(index: number): Value {
    return BigInt(index)
  }
}

/**
 * Returns the costs of a function that sorts. `keysAt` is the position of the argument that
 * contains the sort keys.
 */
const sorting = (keysAt: number): Pick<FunctionPart, 'estimate' | 'cost'> => ({
  estimate: (operands, overload) => {
    const isText = /^list_(?:string|bytes)_/.test(overload)
    const factor = isText ? COMPARISON_COST + TEXT_FACTOR : COMPARISON_COST
    return estimateCreating(squared(sizeAt(operands, keysAt)), factor)
  },
  cost: (args) => costOfComparing(args[keysAt] ?? null),
})

const resultSize = (_: readonly Value[], result: Result): number => creating(sizeOf(result))

const moreListsLibrary: Library = {
  functions: [
    {
      name: 'slice',
      overloads: [member('list_slice', [list(T), int, int], list(T))],
      isLong: true,
      run: (items, from, to, _, meter) =>
        isList(items) && typeof from === 'bigint' && typeof to === 'bigint'
          ? slice(items, from, to, meter)
          : noSuchOverload,
      estimate: (operands) => {
        const to = constantAt(operands, 2) ?? sizeAt(operands, 0).max
        const size = to - (constantAt(operands, 1) ?? 0n)
        return estimateCreating(fixed(BigInt.asUintN(64, size)))
      },
      cost: resultSize,
    },
    {
      name: 'flatten',
      overloads: [
        member('list_flatten', [list(list(T))], list(T)),
        member('list_flatten_int', [list(dyn), int], list(dyn)),
      ],
      isLong: true,
      run: onList((items, depth, meter) => {
        if (depth !== null && typeof depth !== 'bigint') return noSuchOverload
        if (depth !== null && depth < 0n) return new CelError('level must be non-negative')
        const flat: Value[] = []
        flatten(items, depth ?? 1n, flat, meter)
        return new ArrayList(flat)
      }),
      estimate: (operands) => {
        const depth = operands.length < 2 ? 1n : (constantAt(operands, 1) ?? UNBOUNDED)
        return estimateCreating(sizeAt(operands, 0), Number(depth))
      },
      cost: ([items = null, depth]) =>
        creating(sizeOf(items) * (typeof depth === 'bigint' ? Number(depth) : 1)),
    },
    {
      name: 'sort',
      overloads: comparable.map(([id, type]) =>
        member(`list_${id}_sort`, [list(type)], list(type)),
      ),
      isLong: true,
      run: onList((items, _, meter) => sortBy(items, items, meter)),
      ...sorting(0),
    },
    {
      name: '@sortByAssociatedKeys',
      overloads: comparable.map(([id, type]) =>
        member(`list_${id}_sortByAssociatedKeys`, [list(T), list(type)], list(T)),
      ),
      isLong: true,
      run: onList((items, keys, meter) =>
        isList(keys) ? sortBy(items, keys, meter) : noSuchOverload,
      ),
      ...sorting(1),
    },
    {
      name: 'lists.range',
      overloads: [global('lists_range', [int], list(int))],
      run: (size) =>
        typeof size === 'bigint' ? new IntegerRange(Math.max(0, Number(size))) : noSuchOverload,
      estimate: (operands) => estimateCreating(fixed(constantAt(operands, 0) ?? UNBOUNDED)),
      cost: resultSize,
    },
    {
      name: 'reverse',
      overloads: [member('list_reverse', [list(T)], list(T))],
      isLong: true,
      run: onList((items) => new ArrayList([...itemsOf(items)].toReversed())),
      estimate: (operands) => estimateCreating(sizeAt(operands, 0)),
      cost: resultSize,
    },
    {
      name: 'distinct',
      overloads: [member('list_distinct', [list(T)], list(T))],
      isLong: true,
      run: onList(distinct),
      estimate: (operands) => estimateCreating(squared(sizeAt(operands, 0)), COMPARISON_COST),
      cost: ([items = null]) => costOfComparing(items),
    },
  ],
  macros: sortingMacros,
}

/** Maximum size of the list that `lists.range` returns, since Kubernetes 1.37. */
const RANGE_MAX = 1_000_000n
/** The first minor version of Kubernetes that limits the size. */
const RANGE_CHECKED_SINCE = 37

function checkRange(size: bigint): CelError | undefined {
  if (size < 0n) return new CelError(`lists.range: size must be non-negative, got ${size}`)
  return size > RANGE_MAX
    ? new CelError(`lists.range: size ${size} exceeds maximum allowed (${RANGE_MAX})`)
    : undefined
}

/** Returns the library with the errors of a minor version of Kubernetes. */
export const moreListsLibraryOf = (release: number): Library =>
  release < RANGE_CHECKED_SINCE
    ? moreListsLibrary
    : {
        ...moreListsLibrary,
        functions: (moreListsLibrary.functions ?? []).map((part) =>
          part.name === 'lists.range'
            ? {
                ...part,
                run: (size, ...others) =>
                  (typeof size === 'bigint' ? checkRange(size) : undefined) ??
                  part.run(size, ...others),
              }
            : part,
        ),
      }
