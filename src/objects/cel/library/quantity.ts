/** Functions for resource quantities, such as `quantity("1.5Gi")`. */
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
} from '../../../api/quantity.ts'
import { sizeOf, TEXT_FACTOR, traversal } from '../cost.ts'
import type { Library } from '../environment.ts'
import { type FunctionPart, global, member } from '../functions.ts'
import { scaled, unknownSize } from '../ranges.ts'
import { bool, double, int, opaque, string } from '../types.ts'
import { CelError, noSuchOverload, type Opaque, type Result, type Value } from '../values.ts'

const NANO = 1_000_000_000n
const INT_MIN = -(2n ** 63n)
const INT_MAX = 2n ** 63n - 1n

class QuantityValue implements Opaque {
  readonly typeName = 'kubernetes.Quantity'
  readonly quantity: Quantity
  /**
   * Whether the quantity is written as an integer. `1000m` and `1.0` are not, so kube-apiserver
   * does not treat them as integers.
   */
  readonly isWhole: boolean

  constructor(quantity: Quantity, isWhole = true) {
    this.quantity = quantity
    this.isWhole = isWhole
  }

  isSame(other: Opaque): boolean {
    return other instanceof QuantityValue && compareQuantities(this.quantity, other.quantity) === 0
  }
}

const type = opaque('kubernetes.Quantity')
const parsing: Pick<FunctionPart, 'estimate' | 'cost'> = {
  estimate: (operands) => ({ cost: scaled(operands[0]?.size ?? unknownSize, TEXT_FACTOR) }),
  cost: ([text = null]) => traversal(sizeOf(text)),
}

function read(text: Value): Result {
  if (typeof text !== 'string') return noSuchOverload
  const quantity = parseQuantity(text)
  return 'fault' in quantity
    ? new CelError(quantity.fault)
    : new QuantityValue(quantity, !/\.|[mun]$|[eE]-/.test(text))
}

/** Returns a quantity as an integer, or undefined if it has a fraction or exceeds an int64. */
function integerOf({ quantity: { nanos }, isWhole }: QuantityValue): bigint | undefined {
  const whole = nanos / NANO
  return isWhole && nanos % NANO === 0n && whole >= INT_MIN && whole <= INT_MAX ? whole : undefined
}

const on =
  (run: (quantity: Quantity) => Result): FunctionPart['run'] =>
  (value) =>
    value instanceof QuantityValue ? run(value.quantity) : noSuchOverload

const onTwo =
  (run: (one: Quantity, other: Quantity) => Result): FunctionPart['run'] =>
  (one, other) => {
    if (!(one instanceof QuantityValue)) return noSuchOverload
    return other instanceof QuantityValue ? run(one.quantity, other.quantity) : noSuchOverload
  }

/** Declares `add` or `sub`. The argument is a quantity or an int. */
const calculation = (
  name: string,
  run: (one: Quantity, other: Quantity) => Quantity,
): FunctionPart => ({
  name,
  overloads: [
    member(`quantity_${name}`, [type, type], type),
    member(`quantity_${name}_int`, [type, int], type),
  ],
  run: (one, given) => {
    const other =
      typeof given === 'bigint'
        ? new QuantityValue({ nanos: given * NANO, format: 'decimal' })
        : given
    if (!(one instanceof QuantityValue) || !(other instanceof QuantityValue)) return noSuchOverload
    const sum = given === INT_MIN && staysLeast(one) ? addQuantities : run
    return new QuantityValue(sum(one.quantity, other.quantity), isSumWhole(one, other))
  },
})

/**
 * Whether kube-apiserver adds the smallest int64 to a quantity although it should subtract this
 * number. The negation of the smallest int64 overflows and is the same number. So the number is
 * added, unless the sum overflows.
 */
const staysLeast = (one: QuantityValue): boolean => (integerOf(one) ?? -1n) >= 0n

/**
 * Whether a sum or difference counts as an integer. This is the case if both operands do. If one
 * operand is zero, only the other operand counts.
 */
function isSumWhole(one: QuantityValue, other: QuantityValue): boolean {
  if (other.quantity.nanos === 0n) return one.isWhole
  if (one.quantity.nanos === 0n) return other.isWhole
  return one.isWhole && other.isWhole
}

const comparison = (
  name: string,
  id: string,
  run: (order: number) => Result,
  result = bool,
): FunctionPart => ({
  name,
  overloads: [member(`quantity_${id}`, [type, type], result)],
  run: onTwo((one, other) => run(compareQuantities(one, other))),
})

export const quantityLibrary: Library = {
  functions: [
    {
      name: 'quantity',
      overloads: [global('string_to_quantity', [string], type)],
      run: read,
      ...parsing,
    },
    {
      name: 'isQuantity',
      overloads: [global('is_quantity_string', [string], bool)],
      run: (text) =>
        typeof text === 'string' ? !('fault' in parseQuantity(text)) : noSuchOverload,
      ...parsing,
    },
    {
      name: 'sign',
      overloads: [global('quantity_sign', [type], int)],
      run: on(({ nanos }) => (nanos < 0n ? -1n : nanos > 0n ? 1n : 0n)),
    },
    {
      name: 'isInteger',
      overloads: [member('quantity_is_integer', [type], bool)],
      run: (value) =>
        value instanceof QuantityValue ? integerOf(value) !== undefined : noSuchOverload,
    },
    {
      name: 'asInteger',
      overloads: [member('quantity_as_integer', [type], int)],
      run: (value) => {
        if (!(value instanceof QuantityValue)) return noSuchOverload
        return integerOf(value) ?? new CelError('cannot convert value to integer')
      },
    },
    {
      name: 'asApproximateFloat',
      overloads: [member('quantity_as_float', [type], double)],
      run: on(({ nanos }) => Number(nanos) / Number(NANO)),
    },
    calculation('add', addQuantities),
    calculation('sub', (one, other) => addQuantities(one, { ...other, nanos: -other.nanos })),
    comparison('isLessThan', 'is_less_than', (order) => order < 0),
    comparison('isGreaterThan', 'is_greater_than', (order) => order > 0),
    comparison('compareTo', 'compare_to', (order) => BigInt(order), int),
  ],
}
