/** Interval arithmetic for sizes and costs. Results are capped at UNBOUNDED. */
import type { Range } from './functions.ts'

/**
 * The largest size or cost. kube-apiserver uses 64-bit integers, which a double approximates well
 * enough.
 */
export const UNBOUNDED = 2 ** 64

export const unknownSize: Range = { min: 0, max: UNBOUNDED }
export const fixed = (size: number): Range => ({ min: size, max: size })
export const nothing: Range = fixed(0)

const capped = (value: number): number => Math.min(value, UNBOUNDED)

export const plus = (one: Range, other: Range): Range => ({
  min: capped(one.min + other.min),
  max: capped(one.max + other.max),
})

export const times = (one: Range, other: Range): Range => ({
  min: capped(one.min * other.min),
  max: capped(one.max * other.max),
})

/** Multiplies a range. The result is rounded up, as kube-apiserver does for each part of a cost. */
export const scaled = (range: Range, factor: number): Range => ({
  min: capped(Math.ceil(range.min * factor)),
  max: capped(Math.ceil(range.max * factor)),
})

export const union = (one: Range, other: Range): Range => ({
  min: Math.min(one.min, other.min),
  max: Math.max(one.max, other.max),
})
