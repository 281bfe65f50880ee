/**
 * Validates the schema keywords for strings. If a string violates several of them, only the first
 * error is reported. The format is an exception: it is always validated.
 */
import { isLongPattern } from '../../cel/regex.ts'
import { longFault, typeFault, valueFault } from './faults.ts'
import { isFormat, matchesFormat } from './formats.ts'
import { compilePattern } from './patterns.ts'
import type { ValidationContext } from './validation-context.ts'
import type { Checks } from './structural.ts'

export function checkString(value: string, checks: Checks, place: ValidationContext): void {
  const { format } = checks
  checkText(value, checks, place)
  if (format === undefined || !isFormat(format) || matchesFormat(value, format)) return
  place.faults.push(typeFault(place, { wanted: format, found: value, shown: value }))
}

function checkText(
  value: string,
  { maxLength, minLength, pattern, isOfDefault }: Checks,
  place: ValidationContext,
): void {
  const { faults } = place
  if (maxLength !== undefined && isLonger(value, maxLength))
    faults.push(longFault(place, maxLength))
  else if (minLength !== undefined && !isLonger(value, minLength - 1)) {
    faults.push(valueFault(place, value, `should be at least ${minLength} chars long`))
  } else if (pattern !== undefined && !place.patterns.matches(value, pattern)) {
    // Do not report an invalid pattern here. It is reported as an error of the schema.
    if (isOfDefault === true && !isLongPattern(pattern) && compilePattern(pattern) === undefined)
      return
    faults.push(valueFault(place, value, `should match '${pattern}'`))
  }
}

/**
 * Whether a string has more than `length` code points. They are counted only if the length in
 * UTF-16 code units does not decide this.
 */
function isLonger(text: string, length: number): boolean {
  if (text.length <= length) return false
  if (text.length > 2 * length) return true
  let count = 0
  for (const _ of text) if (++count > length) return true
  return false
}
