/**
 * Formats JSON like Go's `%v`, for errors that quote a patch, and returns the Go types of values.
 */
import { goFloat } from '../../api/go-value.ts'
import { isFields, isNumber, type Json } from '../../api/object.ts'
import { compareKeys } from '../codec/json.ts'
import { joinedInParts } from '../../lib/scheduling/join-in-parts.ts'
import { once } from '../../lib/scheduling/parts.ts'

/** Formats a value like Go's `%v`, such as `map[a:1 b:[x <nil>]]`. */
export function goPrint(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (typeof value !== 'object') return isFloat(value) ? goFloat(Number(value)) : `${value}`
  if (!isFields(value)) return `[${joinedInParts(value, goPrint, ' ')}]`
  const keys = once('keys as Go prints them', () => Object.keys(value).toSorted(compareKeys))
  return `map[${joinedInParts(keys, (key) => `${key}:${goPrint(value[key])}`, ' ')}]`
}

/**
 * Formats a value like Go's `%s`. Scalars other than strings are formatted with their type, such as
 * `%!s(int64=1)`.
 */
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

/** Returns the name of a value's Go type. */
export function goType(value: Json): string {
  if (value === null) return '%!s(<nil>)'
  const kind = goKind(value)
  return kind === 'map' ? 'map[string]interface {}' : kind === 'slice' ? '[]interface {}' : kind
}

/** Whether Go decodes a number as a float. Integers that fit into 64 bits remain integers. */
function isFloat(value: Json): boolean {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) !== value
  return typeof value === 'number' && !Number.isSafeInteger(value)
}
