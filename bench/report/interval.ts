/** The median of a few measurements and its confidence interval. */

export type Interval = {
  readonly value: number
  /**
   * Lower bound of the 95 % confidence interval. It is derived from the ranks of the values, and is
   * therefore valid for any distribution.
   */
  readonly low: number
  readonly high: number
}

/**
 * Factor for the ranks: the two-sided 95 % quantile of the normal distribution, times the standard
 * deviation of a fair coin, which is one half.
 */
const HALF_NORMAL = 1.96 / 2

export function medianInterval(values: readonly number[]): Interval {
  const sorted = values.toSorted((a, b) => a - b)
  const count = sorted.length
  const rank = Math.max(0, Math.floor(count / 2 - HALF_NORMAL * Math.sqrt(count)))
  return {
    value: median(sorted),
    low: sorted[rank] ?? Number.NaN,
    high: sorted[count - 1 - rank] ?? Number.NaN,
  }
}

export const median = (all: readonly number[]): number => {
  const sorted = all.toSorted((a, b) => a - b)
  const [low = Number.NaN, high = low] = [
    sorted[(sorted.length - 1) >> 1],
    sorted[sorted.length >> 1],
  ]
  return (low + high) / 2
}
