import { TOLD_MAX } from '../../lib/scheduling/long-lists.ts'
import { eachItem } from '../../lib/scheduling/parts.ts'

/**
 * Returns the warnings about the items of a list, at most TOLD_MAX. Response headers have room for
 * fewer warnings than this.
 *
 * The work can be divided into parts, so `warningsOf` can be called several times for an item. If
 * `warningsOf` has to remember earlier items, it must use a set or map that is created with `once`
 * (lib/scheduling/parts.ts), and is therefore kept between the parts.
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
