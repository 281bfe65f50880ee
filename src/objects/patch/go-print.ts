/**
 * JSON as Go's `%v` prints it, for errors that quote a patch; and Go's names for the types of its
 * values.
 */
import { goFloat } from '../../api/go-value.ts'
import { isFields, isNumber, type Json } from '../../api/object.ts'
import { compareKeys } from '../codec/json.ts'
import { joinedInParts } from '../../lib/scheduling/join-in-parts.ts'
import { once } from '../../lib/scheduling/parts.ts'

/** `map[a:1 b:[x <nil>]]`. */
export function goPrint(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (typeof value !== 'object') return isFloat(value) ? goFloat(Number(value)) : `${value}`
  if (!isFields(value)) return `[${joinedInParts(value, goPrint, ' ')}]`
  const keys = once('keys as Go prints them', () => Object.keys(value).toSorted(compareKeys))
  return `map[${joinedInParts(keys, (key) => `${key}:${goPrint(value[key])}`, ' ')}]`
}

/** As `%s` prints it: what is not a string is printed with its type. */
export function goPrintText(value: Json | undefined): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return '%!s(<nil>)'
  return typeof value === 'object' ? goPrint(value) : `%!s(${goKind(value)}=${goPrint(value)})`
}

export function goKind(value: Json): 'string' | 'bool' | 'int64' | 'float64' | 'slice' | 'map' {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (isNumber(value)) return isFloat(value) ? 'float64' : 'int64'
  return Array.isArray(value) ? 'slice' : 'map'
}

/** The type of a value, as `%s` prints it. */
export function goType(value: Json): string {
  if (value === null) return '%!s(<nil>)'
  const kind = goKind(value)
  return kind === 'map' ? 'map[string]interface {}' : kind === 'slice' ? '[]interface {}' : kind
}

/** Go decodes numbers that fit as integers, and all others as floats. */
function isFloat(value: Json): boolean {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) !== value
  return typeof value === 'number' && !Number.isSafeInteger(value)
}
