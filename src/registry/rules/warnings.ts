import { TOLD_MAX } from '../../lib/scheduling/long-lists.ts'
import { eachItem } from '../../lib/scheduling/parts.ts'

/**
 * Returns the warnings about the items of a list from a client, up to TOLD_MAX: headers have room
 * for far fewer. The work can be divided into parts. `warningsOf` must therefore keep what it
 * remembers of earlier items in a set or map that `once` made.
 */
export function warningsOfEach<T>(
  items: readonly T[],
  warningsOf: (item: T, at: number) => readonly string[],
): string[] {
  return eachItem('warnings of items', items, newWarnings, (warnings, item, at) => {
    for (const warning of warningsOf(item, at)) warnings.push(warning)
    return warnings.length < TOLD_MAX
  })
}

const newWarnings = (): string[] => []
