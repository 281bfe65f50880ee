/** Rules for fields that contain a number or a percentage: `3` or `25%`. */
import { invalidShown } from '../../api/field-fault.ts'
import { goIntOrString } from '../../api/go-value.ts'
import { type Json, numberOf, textOf } from '../../api/object.ts'
import type { Rule } from './rule.ts'
import { nonNegative } from './scalars.ts'

const percentForm = /^[0-9]+%$/
const percentFault =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"

/** Returns the number in a percentage such as `25%`, or undefined for any other value. */
function percentOf(value: Json | undefined): number | undefined {
  const text = textOf(value)
  return typeof value === 'string' && percentForm.test(text) ? Number(text.slice(0, -1)) : undefined
}

export const countOrPercent: Rule = (value, path, check) => {
  if (typeof value !== 'string') return nonNegative(value, path, check)
  if (!percentForm.test(value))
    check.faults.push(invalidShown(path, goIntOrString(value), percentFault))
}

export const atMostHundredPercent: Rule = (value, path, { faults }) => {
  const percent = percentOf(value)
  if (percent === undefined || percent <= 100) return
  faults.push(invalidShown(path, goIntOrString(value), 'must not be greater than 100%'))
}

/** Whether a value is `0` or `0%`. Text that is not a number also counts as zero. */
export function isNone(value: Json | undefined): boolean {
  const percent = percentOf(value)
  if (percent !== undefined) return percent === 0
  return typeof value === 'string' ? !/^[+-]?0*[1-9][0-9]*$/.test(value) : numberOf(value) === 0
}
