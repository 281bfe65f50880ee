/**
 * Sorts long lists in work that is divided by `parts.ts`. It is a merge sort whose steps take a
 * fraction of a millisecond.
 */
import { isDivided, repeat } from './parts.ts'

/** Maximum number of items that are sorted or merged in one step. */
const STEP_ITEMS = 512

type Sorting<T> = {
  from: T[]
  to: T[]
  /** Length of the sorted runs in `from`. 0 while they are being created. */
  width: number
  /**
   * `start` is the index of the two neighboring runs that are being merged. `left` and `right` are
   * the indexes of their next items.
   */
  start: number
  left: number
  right: number
}

/** Does the same as `items.toSorted(compare)`. */
export function sortInParts<T>(
  label: string,
  items: readonly T[],
  compare: (one: T, other: T) => number,
): T[] {
  if (!isDivided() || items.length <= STEP_ITEMS) return items.toSorted(compare)
  return repeat(label, newSorting<T>, (sorting) =>
    sorting.width === 0 ? sortRun(sorting, items, compare) : mergeSome(sorting, compare),
  ).from
}

const newSorting = <T>(): Sorting<T> => ({
  from: [],
  to: [],
  width: 0,
  start: 0,
  left: 0,
  right: 0,
})

function sortRun<T>(
  sorting: Sorting<T>,
  items: readonly T[],
  compare: (one: T, other: T) => number,
): boolean {
  const { from } = sorting
  // Bounded: at most STEP_ITEMS items are passed as arguments.
  from.push(...items.slice(from.length, from.length + STEP_ITEMS).sort(compare))
  if (from.length === items.length) beginMerge(sorting, STEP_ITEMS)
  return true
}

function beginMerge<T>(sorting: Sorting<T>, width: number): void {
  sorting.width = width
  sorting.start = 0
  sorting.left = 0
  sorting.right = width
}

/** Merges some items of two neighboring runs. Returns false when only one run is left. */
function mergeSome<T>(sorting: Sorting<T>, compare: (one: T, other: T) => number): boolean {
  const { from, to, width, start } = sorting
  const leftEnd = Math.min(start + width, from.length)
  const rightEnd = Math.min(leftEnd + width, from.length)
  for (let count = 0; count < STEP_ITEMS; count++) {
    const [left, right] = [from[sorting.left], from[sorting.right]]
    const hasLeft = sorting.left < leftEnd && left !== undefined
    const hasRight = sorting.right < rightEnd && right !== undefined
    if (hasLeft && (!hasRight || compare(left, right) <= 0)) {
      to.push(left)
      sorting.left++
    } else if (hasRight) {
      to.push(right)
      sorting.right++
    } else break
  }
  if (sorting.left < leftEnd || sorting.right < rightEnd) return true
  sorting.start = rightEnd
  sorting.left = rightEnd
  sorting.right = Math.min(rightEnd + width, from.length)
  if (rightEnd < from.length) return true
  sorting.from = to
  sorting.to = []
  beginMerge(sorting, 2 * width)
  return sorting.width < to.length
}
