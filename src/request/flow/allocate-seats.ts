/**
 * Divides the server's seats among the priority levels. Each level gets the same multiple of its
 * target number of seats, within its lower and upper bounds. The multiple is chosen so that all
 * seats are allocated.
 */

export type Want = { readonly target: number; readonly min: number; readonly max: number }

export type Allocation = {
  readonly seats: readonly number[]
  /** Each priority level gets this multiple of its target number of seats, within its bounds. */
  readonly fairFraction: number
}

/**
 * Minimum target number of seats. With it, priority levels without demand still get some of the
 * remaining seats.
 */
const TARGET_MIN = 0.001
/** Sums of fractions that differ by less than this value are considered equal. */
const EPSILON = 1e-7

/**
 * Divides `total` seats among the priority levels. Returns undefined if the bounds cannot be
 * satisfied.
 */
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
 * Returns the multiple of the target numbers (`fairFraction`) at which all seats are allocated. The
 * number of allocated seats increases with this multiple. The increase is linear between two
 * multiples at which a priority level reaches one of its bounds.
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
