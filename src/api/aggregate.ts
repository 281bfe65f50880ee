/** Several errors as one text, as Go's aggregates print them: `a`, or `[a, b]`, without duplicates; empty if there are none. */
import type { FieldFault } from './field-fault.ts'

export function aggregate(errors: Iterable<string>): string {
  const told = [...new Set(errors)]
  return told.length <= 1 ? (told[0] ?? '') : `[${told.join(', ')}]`
}

export const describeFaults = (faults: readonly FieldFault[]): string =>
  aggregate(faults.map(({ path, message }) => `${path}: ${message}`))
