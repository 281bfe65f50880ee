/**
 * Validates long lists (webhooks, match conditions, validations) in time slices, because each item
 * can contain a CEL expression that takes a long time to compile.
 */
import { FAULTS_MAX, type FieldFault } from '../../../api/field-fault.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import type { Turns } from '../../../objects/cel/turns.ts'
import { addAll } from '../../../lib/scheduling/long-lists.ts'

/** Returns the errors of all items of a list. Yields before an item if the time slice is over. */
export function* eachOf<T>(
  items: readonly T[],
  slice: Slice,
  faultsOf: (item: T, at: number) => Turns<readonly FieldFault[]>,
): Turns<FieldFault[]> {
  const faults: FieldFault[] = []
  for (const [at, item] of items.entries()) {
    if (faults.length >= FAULTS_MAX) break
    if (slice.isOver()) yield undefined
    addAll(faults, yield* faultsOf(item, at))
  }
  return faults
}
