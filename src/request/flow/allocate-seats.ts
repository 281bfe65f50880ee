/**
 * Divides the server's seats among the levels that want more or fewer than their own. Each level
 * gets the same multiple of what it wants, within its lower and upper bounds. The multiple is
 * chosen so that all seats are used.
 */

export type Want = { readonly target: number; readonly min: number; readonly max: number }

export type Allocation = {
  readonly seats: readonly number[]
  /** The multiple of its target that each level gets, within its bounds. */
  readonly fairFraction: number
}

/** Minimum target, so that levels that want nothing still get some of the remaining seats. */
const TARGET_MIN = 0.001
/** Sums of fractions that differ by less than this are equal. */
const EPSILON = 1e-7

/** Returns undefined if the bounds cannot be met. */
export function allocateSeats(total: number, wants: readonly Want[]): Allocation | undefined {
  const lowest = sum(wants.map(({ min }) => min))
  const highest = sum(wants.map(({ max }) => max))
  if (lowest > total + EPSILON || highest < total - EPSILON) return undefined
  const targets = wants.map(({ target }) => Math.max(target, TARGET_MIN))
  const at = (fraction: number): number[] =>
    wants.map(({ min, max }, index) =>
      Math.max(min, Math.min(max, fraction * (targets[index] ?? 0))),
    )
  const fairFraction = fractionOf(total, { wants, targets, sumAt: (fraction) => sum(at(fraction)) })
  return { seats: at(fairFraction), fairFraction }
}

type Problem = {
  readonly wants: readonly Want[]
  readonly targets: readonly number[]
  readonly sumAt: (fraction: number) => number
}

/**
 * Returns the fraction at which all seats are used. The number of seats grows with the fraction,
 * and linearly between any two fractions at which a level meets one of its bounds.
 */
function fractionOf(total: number, { wants, targets, sumAt }: Problem): number {
  const corners = wants.flatMap(({ min, max }, index) => [
    min / (targets[index] ?? 1),
    max / (targets[index] ?? 1),
  ])
  const sorted = [...new Set(corners)].toSorted((one, other) => one - other)
  let low = sorted[0] ?? 0
  for (const corner of sorted) {
    const below = sumAt(low)
    const above = sumAt(corner)
    if (above >= total - EPSILON) {
      return above === below ? corner : low + ((total - below) / (above - below)) * (corner - low)
    }
    low = corner
  }
  return low
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
