/** The median of a few measurements, and how sure it is. */

export type Interval = {
  readonly value: number
  /** 95 % confidence, by the ranks of the values: whatever their distribution is. */
  readonly low: number
  readonly high: number
}

/**
 * Two-sided 95 % of the normal distribution, half of which is the standard deviation of a fair
 * coin.
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
