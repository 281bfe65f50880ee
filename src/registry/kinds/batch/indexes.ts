/** Sets of completion indexes of an indexed Job, written as ascending ranges: `0,2-4`. */
import { quote } from '../../../api/quote.ts'

export type Indexes = {
  readonly ranges: readonly (readonly [number, number])[]
  readonly count: number
}

/** Parses a set of indexes. All indexes must be less than `completions`. */
export function parseIndexes(
  text: string,
  completions: number,
): Indexes | { readonly fault: string } {
  const ranges: [number, number][] = []
  let last = -1
  let count = 0
  for (const fragment of text === '' ? [] : text.split(',')) {
    const parts = fragment.split('-')
    if (parts.length > 2) {
      const rule = "an index interval can have at most two parts separated by '-'"
      return { fault: `the fragment ${quote(fragment)} violates the requirement that ${rule}` }
    }
    const first = readIndex(parts[0] ?? '', { above: last, below: completions })
    if (typeof first === 'string') return { fault: first }
    const end =
      parts[1] === undefined ? first : readIndex(parts[1], { above: first, below: completions })
    if (typeof end === 'string') return { fault: end }
    ranges.push([first, end])
    count += end - first + 1
    last = end
  }
  return { ranges, count }
}

/** Parses an index. Returns an error message if the text is invalid. */
function readIndex(
  text: string,
  { above, below }: { readonly above: number; readonly below: number },
): number | string {
  const index = /^[+-]?[0-9]{1,15}$/.test(text) ? Number(text) : undefined
  if (index === undefined) return `cannot convert string to integer for index: ${quote(text)}`
  if (index >= below) return `too large index: ${quote(text)}`
  return index <= above ? `non-increasing order, previous: ${above}, current: ${index}` : index
}

/** Returns the first index that is in both sets, or undefined if there is none. */
export function overlapOf(one: Indexes, other: Indexes): number | undefined {
  let at = 0
  for (const [first, last] of one.ranges) {
    // Both sets are in ascending order. Skip the ranges of the other set that end before this
    // range, because they also end before all later ranges.
    while (at < other.ranges.length && (other.ranges[at]?.[1] ?? 0) < first) at++
    const from = other.ranges[at]?.[0]
    if (from !== undefined && from <= last) return Math.max(first, from)
  }
  return undefined
}
