/** Conversions between types, and functions that return parts of times. */
import {
  toBool,
  toBytes,
  toDouble,
  toDuration,
  toInt,
  toStringValue,
  toTimestamp,
  toUint,
} from '../conversions.ts'
import { sizeOf, TEXT_FACTOR, traversal } from '../cost.ts'
import { type FunctionPart, global, member, type Operand, type Range } from '../functions.ts'
import { nothing, scaled, unknownSize } from '../ranges.ts'
import { durationPart, type TimePart, timePart } from '../time.ts'
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  parameter,
  string,
  timestamp,
  type Type,
  typeOf,
  uint,
} from '../types.ts'
import {
  CelError,
  Duration,
  noSuchOverload,
  type Result,
  Timestamp,
  TypeValue,
  typeNameOf,
  type Value,
} from '../values.ts'

const A = parameter('A')
const sizeAt = (operands: readonly Operand[], at: number): Range =>
  operands[at]?.size ?? unknownSize

/**
 * Estimated time per character to parse a duration. It is the worst case: a duration with many
 * short parts.
 */
const DURATION_CHARACTER_NANOS = 100

type Conversion = {
  readonly run: (value: Value) => Result
  readonly from: readonly Type[]
  readonly to: Type
}

/** Declares a conversion. Constant arguments are converted at compile time. */
function conversion(
  name: string,
  { run, from, to }: Conversion,
  more: Partial<FunctionPart> = {},
): FunctionPart {
  return {
    name,
    overloads: from.map((type) =>
      global(type.kind === to.kind ? `${name}_to_${name}` : `${type.kind}_to_${name}`, [type], to),
    ),
    run,
    prepare: ([value]) => {
      if (value === undefined) return undefined
      const made = run(value)
      return made instanceof CelError ? made : () => made
    },
    ...more,
  }
}

export const conversionFunctions: readonly FunctionPart[] = [
  conversion('bool', { run: toBool, from: [bool, string], to: bool }),
  conversion('int', {
    run: toInt,
    from: [int, double, duration, string, timestamp, uint],
    to: int,
  }),
  conversion('uint', { run: toUint, from: [uint, double, int, string], to: uint }),
  conversion('double', { run: toDouble, from: [double, int, string, uint], to: double }),
  conversion(
    'duration',
    { run: toDuration, from: [duration, int, string], to: duration },
    {
      isLong: true,
      run: (value, _, __, ___, meter) => {
        if (typeof value === 'string') meter.last(value.length * DURATION_CHARACTER_NANOS)
        return toDuration(value)
      },
    },
  ),
  conversion('timestamp', { run: toTimestamp, from: [timestamp, int, string], to: timestamp }),
  conversion(
    'bytes',
    { run: toBytes, from: [bytes, string], to: bytes },
    {
      estimate: (operands, overload) => {
        if (overload !== 'string_to_bytes') return undefined
        const size = sizeAt(operands, 0)
        // If the size is unknown, it is the largest integer, and the multiplication overflows, as
        // in kube-apiserver.
        const max = BigInt.asUintN(64, size.max * 4n)
        return { cost: scaled(size, TEXT_FACTOR), size: { min: size.min, max } }
      },
      cost: ([value = null], _, overload) =>
        overload === 'string_to_bytes' ? traversal(sizeOf(value)) : undefined,
    },
  ),
  conversion(
    'string',
    {
      run: toStringValue,
      from: [string, bool, bytes, double, duration, int, timestamp, uint],
      to: string,
    },
    {
      estimate: (operands, overload) => {
        if (overload !== 'bytes_to_string') return undefined
        const size = sizeAt(operands, 0)
        return {
          cost: scaled(size, TEXT_FACTOR),
          size: { min: size.min / 4n, max: size.max },
        }
      },
      cost: ([value = null], _, overload) =>
        overload === 'bytes_to_string' ? traversal(sizeOf(value)) : undefined,
    },
  ),
  {
    name: 'dyn',
    overloads: [global('to_dyn', [A], dyn)],
    run: (value) => value,
    estimate: () => ({ cost: nothing }),
  },
  {
    name: 'type',
    overloads: [global('type', [A], typeOf(A))],
    run: (value) => new TypeValue(typeNameOf(value)),
  },
]

const parts: readonly (readonly [TimePart, string])[] = [
  ['getFullYear', 'year'],
  ['getMonth', 'month'],
  ['getDayOfYear', 'day_of_year'],
  ['getDayOfMonth', 'day_of_month'],
  ['getDate', 'day_of_month_1_based'],
  ['getDayOfWeek', 'day_of_week'],
  ['getHours', 'hours'],
  ['getMinutes', 'minutes'],
  ['getSeconds', 'seconds'],
  ['getMilliseconds', 'milliseconds'],
]

/** Estimated time to look up a time zone by name. */
const ZONE_NANOS = 500_000

export const timeFunctions: readonly FunctionPart[] = parts.map(([name, id]) => ({
  name,
  isLong: true,
  overloads: [
    member(`timestamp_to_${id}`, [timestamp], int),
    member(`timestamp_to_${id}_with_tz`, [timestamp, string], int),
    ...(['hours', 'minutes', 'seconds', 'milliseconds'].includes(id)
      ? [member(`duration_to_${id}`, [duration], int)]
      : []),
  ],
  run: (time, zone, _, __, meter) => {
    if (typeof zone === 'string') meter.work(ZONE_NANOS)
    if (time instanceof Timestamp)
      return timePart(name, time, typeof zone === 'string' ? zone : undefined)
    return time instanceof Duration ? durationPart(name, time) : noSuchOverload
  },
}))
