/**
 * Checks synchronously whether a small value is valid. Errors are not reported here, so the check
 * needs neither paths nor the value before the update.
 */
import { type Fields, isFields, type Json } from '../../../api/object.ts'
import type { Slice } from '../../cel/run.ts'
import { checkFieldCount, checkItemCount, checkType, checkWhole } from './check-value.ts'
import type { Patterns } from './patterns.ts'
import { type Fault, ValidationContext } from './validation-context.ts'
import { type Checks, hasJunctors, type Structural } from './structural.ts'
import { Trail } from './trail.ts'

/**
 * Maximum number of values that are checked in this way, which takes at most about half a
 * millisecond. An object with more values is validated in time slices.
 */
const VALUES_MAX = 4_000

export function isQuicklyGood(
  value: Json,
  schema: Structural,
  patterns: Patterns,
  slice: Slice,
): boolean {
  const faults: Fault[] = []
  // One context for all values. Its path is never read, because errors are not reported.
  const quick = new ValidationContext(
    new Trail(),
    { prefix: '', faults, patterns, slice },
    undefined,
  )
  const left = { values: VALUES_MAX }
  return fits(value, schema, { place: quick, faults, left }) && left.values >= 0
}

type Quick = {
  readonly place: ValidationContext
  readonly faults: Fault[]
  readonly left: { values: number }
}

/** Whether a value is valid. Returns false if it is invalid or too large for this check. */
function fits(value: Json, schema: Structural, quick: Quick): boolean {
  const { checks } = schema
  if (quick.left.values < 0) return false
  quick.left.values -= 1 + sizeOf(value)
  // Comparing an object or a list with the values of an enum requires reading it entirely, which
  // can take too long here.
  if (checks?.enum !== undefined && typeof value === 'object' && value !== null)
    quick.left.values = -1
  if (quick.left.values < 0) return false
  const { place, faults } = quick
  checkType(value, schema, place)
  checkWhole(value, schema, place)
  if (faults.length > 0) return false
  if (
    value !== null &&
    checks !== undefined &&
    hasJunctors(checks) &&
    !fitsJunctors(value, checks, quick)
  )
    return false
  if (Array.isArray(value)) return fitsItems(value, schema, quick)
  return isFields(value) ? fitsFields(value, schema, quick) : true
}

/** Returns the cost of checking a value, in the unit in which VALUES_MAX counts. */
function sizeOf(value: Json): number {
  if (typeof value === 'string') return value.length >> 6
  if (Array.isArray(value)) return value.length
  return isFields(value) ? Object.keys(value).length : 0
}

function fitsItems(
  items: readonly Json[],
  { items: schema, checks }: Structural,
  quick: Quick,
): boolean {
  if (checks !== undefined) checkItemCount(items, checks, quick.place)
  if (quick.faults.length > 0) return false
  if (schema !== undefined) for (const item of items) if (!fits(item, schema, quick)) return false
  return true
}

function fitsFields(
  fields: Fields,
  { properties, additional, checks }: Structural,
  quick: Quick,
): boolean {
  const names = Object.keys(fields)
  if (checks !== undefined) {
    checkFieldCount(names.length, checks, quick.place)
    const { required = none } = checks
    quick.left.values -= required.length
    if (quick.faults.length > 0 || quick.left.values < 0) return false
    for (const name of required) if (!Object.hasOwn(fields, name)) return false
  }
  for (const name of names) {
    const schema = properties?.get(name) ?? additional
    if (typeof schema === 'object' ? !fits(fields[name] ?? null, schema, quick) : schema === false)
      return false
  }
  return true
}

const none: readonly never[] = []

function fitsJunctors(value: Json, { allOf, anyOf, oneOf, not }: Checks, quick: Quick): boolean {
  const isGood = (schema: Structural): boolean => {
    quick.faults.length = 0
    return fits(value, schema, quick)
  }
  if (anyOf !== undefined && !anyOf.some(isGood)) return false
  if (oneOf !== undefined && oneOf.filter(isGood).length !== 1) return false
  if (allOf !== undefined && !allOf.every(isGood)) return false
  if (not !== undefined && isGood(not)) return false
  quick.faults.length = 0
  return true
}
