/** Joins errors as upstream's aggregates do: `a`, or `[a, b]`, without duplicates. */
import type { FieldFault } from '../../api/field-fault.ts'

export function aggregate(faults: readonly string[]): string {
  const told = [...new Set(faults)]
  const [only = ''] = told
  return told.length === 1 ? only : `[${told.join(', ')}]`
}

export const describeFaults = (faults: readonly FieldFault[]): string =>
  aggregate(faults.map(({ path, message }) => `${path}: ${message}`))
