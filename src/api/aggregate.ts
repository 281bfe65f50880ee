/**
 * Formats several errors like Go's aggregate errors: `a`, or `[a, b]`, without duplicates. Returns
 * an empty string if there are no errors.
 */
import type { FieldFault } from './field-fault.ts'

export function aggregate(errors: Iterable<string>): string {
  const reported = [...new Set(errors)]
  return reported.length <= 1 ? (reported[0] ?? '') : `[${reported.join(', ')}]`
}

export const describeFaults = (faults: readonly FieldFault[]): string =>
  aggregate(faults.map(({ path, message }) => `${path}: ${message}`))
