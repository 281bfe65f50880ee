/**
 * Validates the schema keywords for numbers. As in kube-apiserver, if the value is an integer, the
 * fraction of each limit is ignored.
 */
import { invalidShown } from '../../../api/field-fault.ts'
import { goFloat } from '../../../api/go-value.ts'
import { pathOf, valueFault } from './faults.ts'
import type { ValidationContext } from './validation-context.ts'
import type { Checks } from './structural.ts'
import { isInteger } from './value.ts'

export function checkNumber(
  value: number | bigint,
  checks: Checks,
  place: ValidationContext,
): void {
  const {
    multipleOf,
    maximum,
    minimum,
    exclusiveMaximum = false,
    exclusiveMinimum = false,
  } = checks
  const whole = isInteger(value)
  if (multipleOf !== undefined) checkMultiple(value, limitOf(multipleOf, whole), place)
  if (maximum !== undefined) {
    const limit = limitOf(maximum, whole)
    if (value > limit || (exclusiveMaximum && value >= limit)) {
      const why = exclusiveMaximum ? 'should be less than' : 'should be less than or equal to'
      place.faults.push(valueFault(place, value, `${why} ${printLimit(limit, whole)}`))
    }
  }
  if (minimum !== undefined) {
    const limit = limitOf(minimum, whole)
    if (value < limit || (exclusiveMinimum && value <= limit)) {
      const why = exclusiveMinimum ? 'should be greater than' : 'should be greater than or equal to'
      place.faults.push(valueFault(place, value, `${why} ${printLimit(limit, whole)}`))
    }
  }
}

const limitOf = (limit: number, whole: boolean): number => (whole ? asInt64(limit) : limit)
const printLimit = (limit: number, whole: boolean): string =>
  whole ? `${BigInt(limit)}` : goFloat(limit)

/**
 * Converts a float to an int64 as Go does on amd64. A float that is out of range becomes the
 * smallest int64.
 */
const asInt64 = (limit: number): number =>
  Math.abs(limit) < INT64_BOUND ? Math.trunc(limit) : -INT64_BOUND
const INT64_BOUND = 2 ** 63

function checkMultiple(value: number | bigint, factor: number, place: ValidationContext): void {
  const shown = printLimit(factor, isInteger(value))
  if (factor <= 0) {
    const why = `factor MultipleOf declared for ${place.name} must be positive: ${shown}`
    place.faults.push(() => invalidShown(pathOf(place, place.name), shown, why))
    return
  }
  if (!isMultiple(value, factor))
    place.faults.push(valueFault(place, value, `should be a multiple of ${shown}`))
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (isInteger(value)) return BigInt(value) % BigInt(factor) === 0n
  const number = Number(value)
  return isNearlyWhole(factor < 1 ? (1 / factor) * number : number / factor)
}

/** Maximum relative difference to an integer at which a float still counts as this integer. */
const TOLERANCE = 1e-9

/**
 * Whether a float counts as an integer. As in kube-apiserver, only positive floats may differ from
 * the integer, and only by being slightly larger.
 */
export function isNearlyWhole(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false
  const whole = Math.trunc(value)
  return value === whole || (whole > 0 && (value - whole) / (value + whole) < TOLERANCE)
}
