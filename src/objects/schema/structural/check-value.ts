/**
 * Validates the schema keywords for a single value: its type, its limits as a string or number, and
 * the number of its items or fields.
 */
import { isNumber, type Json } from '../../../api/object.ts'
import { checkNumber, isNearlyWhole } from './check-number.ts'
import { checkString } from './check-string.ts'
import { enumFault, manyFault, typeFault, valueFault } from './faults.ts'
import { isFormat } from './formats.ts'
import type { ValidationContext } from './validation-context.ts'
import type { Checks, Structural } from './structural.ts'
import { typeOfValue } from './value.ts'

/**
 * Validates the type. Returns 1 if it is valid, and 0 otherwise, because callers count successful
 * checks.
 */
export function checkType(
  value: Json,
  { types, isNullable, checks }: Structural,
  place: ValidationContext,
): number {
  const format =
    checks?.format !== undefined && (checks.isOfDefault === true || isFormat(checks.format))
      ? checks.format
      : undefined
  if (types.length === 0 && format === undefined) return 1
  if (value === null && (isNullable || types.length === 0 || types.includes('null'))) return 1
  const type = typeOfValue(value)
  for (const wanted of types)
    if (wanted === type || (wanted === 'number' && type === 'integer')) return 1
  if (typeof value === 'number' && types.includes('integer') && isNearlyWhole(value)) return 1
  if (format !== undefined && value !== null) {
    // For a schema with a format, kube-apiserver accepts any string or list here, unless the schema
    // permits numbers. For all other values, it compares the name of their Go type with the format.
    const isText = type === 'string' || type === 'array'
    const found = goFormats.get(type) ?? ''
    if (!isText && found !== format) {
      place.faults.push(typeFault(place, { wanted: format, found, shown: found }))
      return 0
    }
    if (isText && !types.includes('number') && !types.includes('integer')) return 1
  }
  place.faults.push(typeFault(place, { wanted: types.join(','), found: type, shown: type }))
  return 0
}

const goFormats: ReadonlyMap<string, string> = new Map([
  ['integer', 'int64'],
  ['number', 'float64'],
])

/** Validates the keywords that concern the whole value and not its parts. */
export function checkWhole(value: Json, { checks }: Structural, place: ValidationContext): void {
  if (checks === undefined) return
  if (checks.enum?.has(value) === false)
    place.faults.push(enumFault(place, value, checks.enum.values))
  if (typeof value === 'string') checkString(value, checks, place)
  else if (isNumber(value)) checkNumber(value, checks, place)
}

export function checkItemCount(
  items: readonly Json[],
  { minItems, maxItems, uniqueItems }: Checks,
  place: ValidationContext,
): void {
  const { faults } = place
  if (minItems !== undefined && items.length < minItems) {
    faults.push(valueFault(place, items.length, `should have at least ${minItems} items`))
  }
  if (maxItems !== undefined && items.length > maxItems)
    faults.push(manyFault(place, items.length, maxItems))
  if (uniqueItems === true && new Set(items.map(printJson)).size < items.length)
    faults.push(valueFault(place, '', "shouldn't contain duplicates"))
}

const printJson = (value: Json): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? Number(part) : part))

export function checkFieldCount(
  count: number,
  { minProperties, maxProperties }: Checks,
  place: ValidationContext,
): void {
  const { faults } = place
  if (minProperties !== undefined && count < minProperties) {
    faults.push(valueFault(place, count, `should have at least ${minProperties} properties`))
  }
  if (maxProperties !== undefined && count > maxProperties)
    faults.push(manyFault(place, count, maxProperties))
}
