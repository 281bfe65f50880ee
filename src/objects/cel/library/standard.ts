/** The operators and functions of all environments. */
import { add, divide, multiply, negate, remainder, subtract } from '../arithmetic.ts'
import { compare, equal, isEqual } from '../compare.ts'
import { countPoints, minSizeOf, PATTERN_FACTOR, sizeOf, TEXT_FACTOR, traversal } from '../cost.ts'
import type { Library } from '../environment.ts'
import {
  type Estimate,
  type FunctionPart,
  global,
  type Meter,
  member,
  type Operand,
  type Range,
  type RunCost,
  type Signature,
} from '../functions.ts'
import { standardMacros } from '../macros.ts'
import { fixed, plus, scaled, smaller, times, unknownSize } from '../ranges.ts'
import { compilePattern, isLongPattern, useLongPattern, usePattern } from '../regex.ts'
import { index } from '../selection.ts'
import {
  bool,
  bytes,
  double,
  duration,
  int,
  list,
  map,
  parameter,
  string,
  timestamp,
  type Type,
  uint,
} from '../types.ts'
import {
  CelError,
  isList,
  isMap,
  itemsOf,
  noSuchOverload,
  type Result,
  type Value,
} from '../values.ts'
import { conversionFunctions, timeFunctions } from './conversions.ts'

const A = parameter('A')
const B = parameter('B')
const sizeAt = (operands: readonly Operand[], at: number): Range =>
  operands[at]?.size ?? unknownSize

/** Types for which kube-apiserver estimates a constant cost of `==`, but not of `!=`. */
const unitTypes: ReadonlySet<string> = new Set([
  'net.IP',
  'net.CIDR',
  'kubernetes.Quantity',
  'kubernetes.NamedFormat',
  'kubernetes.Semver',
])

/**
 * Estimates the cost of comparing two values. Two strings are compared up to the end of the shorter
 * one.
 */
const comparing: Estimate = (operands, overload) => {
  if (!overload.endsWith('string') && !overload.endsWith('bytes') && !overload.endsWith('equals'))
    return undefined
  const type = operands[0]?.type
  if (overload === 'equals' && type?.kind === 'opaque' && unitTypes.has(type.name))
    return { cost: fixed(1) }
  // For two URLs, kube-apiserver's estimate considers only the size of the second one.
  if (overload === 'equals' && type?.kind === 'opaque' && type.name === 'kubernetes.URL') {
    const size = sizeAt(operands, 1)
    return { cost: scaled({ min: 1n, max: size === unknownSize ? 1n : size.max }, TEXT_FACTOR) }
  }
  const max = smaller(sizeAt(operands, 0).max, sizeAt(operands, 1).max)
  return { cost: scaled({ min: max > 0n ? 1n : 0n, max }, TEXT_FACTOR) }
}
const comparingCost: RunCost = ([one = null, other = null], _, overload) => {
  if (!overload.endsWith('string') && !overload.endsWith('bytes') && !overload.endsWith('equals'))
    return undefined
  return traversal(minSizeOf(one, other))
}

const ordered: readonly (readonly [string, Type])[] = [
  ['bool', bool],
  ['int64', int],
  ['uint64', uint],
  ['double', double],
  ['string', string],
  ['bytes', bytes],
  ['timestamp', timestamp],
  ['duration', duration],
]
const mixed: readonly (readonly [string, Type, Type])[] = [
  ['int64_double', int, double],
  ['int64_uint64', int, uint],
  ['uint64_double', uint, double],
  ['uint64_int64', uint, int],
  ['double_int64', double, int],
  ['double_uint64', double, uint],
]

function relation(name: string, id: string, holds: (order: number) => boolean): FunctionPart {
  return {
    name,
    overloads: [
      ...ordered.map(([suffix, type]) => global(`${id}_${suffix}`, [type, type], bool)),
      ...mixed.map(([suffix, one, other]) => global(`${id}_${suffix}`, [one, other], bool)),
    ],
    run: (one, other) => {
      const order = compare(one, other)
      if (Number.isNaN(order)) return new CelError('NaN values cannot be ordered')
      return order === undefined ? noSuchOverload : holds(order)
    },
    estimate: comparing,
    cost: comparingCost,
  }
}

const equality: readonly FunctionPart[] = [
  {
    name: '_==_',
    overloads: [global('equals', [A, A], bool)],
    run: (one, other, _, __, meter) => equal(one, other, meter),
    estimate: comparing,
    cost: comparingCost,
  },
  {
    name: '_!=_',
    overloads: [global('not_equals', [A, A], bool)],
    run: (one, other, _, __, meter) => !isEqual(one, other, meter),
    estimate: comparing,
    cost: comparingCost,
  },
]

const numbers: readonly (readonly [string, Type])[] = [
  ['int64', int],
  ['uint64', uint],
  ['double', double],
]
const same = (id: string, types: readonly (readonly [string, Type])[]): readonly Signature[] =>
  types.map(([suffix, type]) => global(`${id}_${suffix}`, [type, type], type))

/**
 * Estimates the cost of an addition. Strings and bytes are copied, but concatenating lists has a
 * constant cost.
 */
const adding: Estimate = (operands, overload) => {
  if (overload !== 'add_string' && overload !== 'add_bytes' && overload !== 'add_list')
    return undefined
  const size = plus(sizeAt(operands, 0), sizeAt(operands, 1))
  return { cost: overload === 'add_list' ? fixed(1) : scaled(size, TEXT_FACTOR), size }
}
const addingCost: RunCost = ([one = null, other = null], _, overload) =>
  overload === 'add_string' || overload === 'add_bytes'
    ? traversal(sizeOf(one) + sizeOf(other))
    : undefined

const arithmetic: readonly FunctionPart[] = [
  {
    name: '_+_',
    overloads: [
      global('add_bytes', [bytes, bytes], bytes),
      global('add_double', [double, double], double),
      global('add_duration_duration', [duration, duration], duration),
      global('add_duration_timestamp', [duration, timestamp], timestamp),
      global('add_timestamp_duration', [timestamp, duration], timestamp),
      global('add_int64', [int, int], int),
      global('add_list', [list(A), list(A)], list(A)),
      global('add_string', [string, string], string),
      global('add_uint64', [uint, uint], uint),
    ],
    run: (one, other, _, __, meter) => add(one, other, meter),
    estimate: adding,
    cost: addingCost,
  },
  {
    name: '_-_',
    overloads: [
      ...same('subtract', numbers),
      global('subtract_duration_duration', [duration, duration], duration),
      global('subtract_timestamp_duration', [timestamp, duration], timestamp),
      global('subtract_timestamp_timestamp', [timestamp, timestamp], duration),
    ],
    run: subtract,
  },
  { name: '_*_', overloads: same('multiply', numbers), run: multiply },
  { name: '_/_', overloads: same('divide', numbers), run: divide },
  { name: '_%_', overloads: same('modulo', numbers.slice(0, 2)), run: remainder },
  {
    name: '-_',
    overloads: [global('negate_int64', [int], int), global('negate_double', [double], double)],
    run: negate,
  },
]

const never = (): Result => noSuchOverload

/**
 * Operators that do not always evaluate all operands. They are only declared here; plan.ts
 * implements them.
 */
const logic: readonly FunctionPart[] = [
  { name: '_&&_', overloads: [global('logical_and', [bool, bool], bool)], run: never },
  { name: '_||_', overloads: [global('logical_or', [bool, bool], bool)], run: never },
  { name: '_?_:_', overloads: [global('conditional', [bool, A, A], A)], run: never },
  {
    name: '@not_strictly_false',
    overloads: [global('not_strictly_false', [bool], bool)],
    run: never,
  },
  {
    name: '!_',
    overloads: [global('logical_not', [bool], bool)],
    run: (value) => (typeof value === 'boolean' ? !value : noSuchOverload),
  },
]

function contains(item: Value, collection: Value, meter: Meter): Result {
  if (isMap(collection)) return collection.get(item) !== undefined
  if (!isList(collection)) return noSuchOverload
  let result: Result = false
  for (const other of itemsOf(collection)) {
    const isSame = equal(other, item, meter)
    if (isSame === true) return true
    if (isSame !== false && collection.isOfObject === true) result = isSame
  }
  return result
}

const collections: readonly FunctionPart[] = [
  {
    name: '@in',
    overloads: [global('in_list', [A, list(A)], bool), global('in_map', [A, map(A, B)], bool)],
    run: (item, collection, _, __, meter) => contains(item, collection, meter),
    estimate: (operands, overload) =>
      overload === 'in_list' ? { cost: scaled(sizeAt(operands, 1), 1) } : undefined,
    cost: ([, collection = null], _, overload) =>
      overload === 'in_list' ? sizeOf(collection) : undefined,
  },
  {
    name: '_[_]',
    overloads: [global('index_list', [list(A), int], A), global('index_map', [map(A, B), A], B)],
    run: index,
  },
  {
    name: 'size',
    overloads: [
      ...[bytes, list(A), map(A, B), string].flatMap((type) => [
        global(`size_${type.kind}`, [type], int),
        member(`${type.kind}_size`, [type], int),
      ]),
    ],
    run: (value, _, __, ___, meter) => {
      if (typeof value === 'string') return BigInt(countPoints(value))
      if (value instanceof Uint8Array) return BigInt(value.length)
      if (isList(value)) return BigInt(value.size)
      if (!isMap(value)) return noSuchOverload
      if (value.isCounted === false) meter.work(value.size * KEY_NANOS)
      return BigInt(value.size)
    },
  },
  {
    name: 'cel.@mapInsert',
    overloads: [
      global('@mapInsert_map_map', [map(A, B), map(A, B)], map(A, B)),
      global('@mapInsert_map_key_value', [map(A, B), A, B], map(A, B)),
    ],
    run: never,
  },
]

/** Estimated time per key to list the keys of a map, in order to count them. */
const KEY_NANOS = 100

const onTexts =
  (run: (text: string, part: string) => Result): FunctionPart['run'] =>
  (text, part) =>
    typeof text === 'string' && typeof part === 'string' ? run(text, part) : noSuchOverload

const searching: Estimate = (operands) => ({ cost: scaled(sizeAt(operands, 1), TEXT_FACTOR) })
const searchingCost: RunCost = ([text = null]) => traversal(sizeOf(text))

const strings: readonly FunctionPart[] = [
  {
    name: 'startsWith',
    overloads: [member('starts_with_string', [string, string], bool)],
    run: onTexts((text, part) => text.startsWith(part)),
    estimate: searching,
    cost: searchingCost,
  },
  {
    name: 'endsWith',
    overloads: [member('ends_with_string', [string, string], bool)],
    run: onTexts((text, part) => text.endsWith(part)),
    estimate: searching,
    cost: searchingCost,
  },
  {
    name: 'contains',
    overloads: [member('contains_string', [string, string], bool)],
    run: onTexts((text, part) => text.includes(part)),
    estimate: (operands) => ({
      cost: times(
        scaled(sizeAt(operands, 0), TEXT_FACTOR),
        scaled(sizeAt(operands, 1), TEXT_FACTOR),
      ),
    }),
    cost: ([text = null, part = null]) => traversal(sizeOf(text)) * traversal(sizeOf(part)),
  },
  {
    name: 'matches',
    overloads: [
      global('matches', [string, string], bool),
      member('matches_string', [string, string], bool),
    ],
    isLong: true,
    run: (text, pattern, _, __, meter) => {
      if (typeof text !== 'string' || typeof pattern !== 'string') return noSuchOverload
      if (isLongPattern(pattern)) return useLongPattern(pattern, text, matching, meter)
      const compiled = meter.pattern(pattern)
      return compiled instanceof CelError ? compiled : usePattern(compiled, text, matching, meter)
    },
    prepare: ([, pattern]) => {
      if (typeof pattern !== 'string' || isLongPattern(pattern)) return undefined
      const compiled = compilePattern(pattern)
      if (compiled instanceof CelError) return compiled
      return (text, _, __, ___, meter) =>
        typeof text === 'string' ? usePattern(compiled, text, matching, meter) : noSuchOverload
    },
    // kube-apiserver defines a cost for `text.matches(pattern)`, but not for `matches(text,
    // pattern)`.
    estimate: (operands, overload) =>
      overload === 'matches' ? undefined : { cost: patternCost(operands) },
    cost: ([text = null, pattern = null], _, overload) =>
      overload === 'matches' ? undefined : patternRunCost(text, pattern),
  },
]

const matching = { verb: 'matches', limit: 0 } as const

/**
 * Estimates the cost of matching a regular expression. One character is added to the length of the
 * text, so that a large regular expression has a cost even for an empty text.
 */
export const patternCost = (operands: readonly Operand[]): Range =>
  times(
    scaled(plus(sizeAt(operands, 0), fixed(1)), TEXT_FACTOR),
    scaled(sizeAt(operands, 1), PATTERN_FACTOR),
  )

export const patternRunCost = (text: Value, pattern: Value): number =>
  traversal(1 + sizeOf(text)) * traversal(sizeOf(pattern), PATTERN_FACTOR)

export const standardLibrary: Library = {
  functions: [
    ...equality,
    relation('_<_', 'less', (order) => order < 0),
    relation('_<=_', 'less_equals', (order) => order <= 0),
    relation('_>_', 'greater', (order) => order > 0),
    relation('_>=_', 'greater_equals', (order) => order >= 0),
    ...arithmetic,
    ...logic,
    ...collections,
    ...strings,
    ...conversionFunctions,
    ...timeFunctions,
  ],
  macros: standardMacros,
}

/** Costs since 1.37. `matches(text, pattern)` now costs as much as `text.matches(pattern)`. */
const laterCosts: ReadonlyMap<string, Pick<FunctionPart, 'estimate' | 'cost'>> = new Map([
  ['startsWith', { cost: ([, part = null]) => traversal(sizeOf(part)) }],
  ['endsWith', { cost: ([, part = null]) => traversal(sizeOf(part)) }],
  [
    'matches',
    {
      estimate: (operands) => ({ cost: patternCost(operands) }),
      cost: ([text = null, pattern = null]) => patternRunCost(text, pattern),
    },
  ],
])

/** The first minor version of Kubernetes with these costs. */
const LATER_COSTS_SINCE = 37

/** Returns the library with the costs of a minor version of Kubernetes. */
export const standardLibraryOf = (release: number): Library =>
  release < LATER_COSTS_SINCE
    ? standardLibrary
    : {
        ...standardLibrary,
        functions: (standardLibrary.functions ?? []).map((part) => ({
          ...part,
          ...laterCosts.get(part.name),
        })),
      }
