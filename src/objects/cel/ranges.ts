/** Arithmetic with ranges of sizes and costs. No result exceeds UNBOUNDED. */
import type { Range } from './functions.ts'

/**
 * The largest size or cost. As in kube-apiserver, sizes and costs are unsigned 64-bit integers. A
 * double would be too imprecise to compare the costs of two rules with an unknown size.
 */
export const UNBOUNDED = 2n ** 64n - 1n
const UNBOUNDED_NUMBER = 2 ** 64

export const unknownSize: Range = { min: 0n, max: UNBOUNDED }
export const fixed = (size: number | bigint): Range => ({ min: BigInt(size), max: BigInt(size) })
export const nothing: Range = fixed(0)

export const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other)
export const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other)
const capped = (value: bigint): bigint => smaller(value, UNBOUNDED)

export const plus = (one: Range, other: Range): Range => ({
  min: capped(one.min + other.min),
  max: capped(one.max + other.max),
})

export const times = (one: Range, other: Range): Range => ({
  min: capped(one.min * other.min),
  max: capped(one.max * other.max),
})

/** Multiplies both ends of a range by a factor. Results are rounded up, as in kube-apiserver. */
export const scaled = ({ min, max }: Range, factor: number): Range => ({
  min: scaledValue(min, factor),
  max: scaledValue(max, factor),
})

function scaledValue(value: bigint, factor: number): bigint {
  const product = Math.ceil(Number(value) * factor)
  return product < UNBOUNDED_NUMBER ? BigInt(product) : UNBOUNDED
}

export const union = (one: Range, other: Range): Range => ({
  min: smaller(one.min, other.min),
  max: larger(one.max, other.max),
})
