import { TOLD_MAX } from '../../lib/scheduling/long-lists.ts'
import { eachItem } from '../../lib/scheduling/parts.ts'

/**
 * The warnings about the items of a list that a client sent, up to TOLD_MAX of them: headers have
 * room for far fewer. Can be divided: what `warningsOf` remembers of the items before is in a set
 * or map that `once` made.
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
