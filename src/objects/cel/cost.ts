/** Computes costs in kube-apiserver's units. One unit is about the cost of a field access. */
import { isList, isMap, itemsOf, type Result, type Value } from './values.ts'

export const IDENT_COST = 1
export const LIST_COST = 10
export const MAP_COST = 30
export const STRUCT_COST = 40
/** Cost per visited character. */
export const TEXT_FACTOR = 0.1
/**
 * Cost per character of a regular expression. It approximates the number of instructions of its
 * compiled form.
 */
export const PATTERN_FACTOR = 0.25

export const traversal = (size: number, factor = TEXT_FACTOR): number => Math.ceil(size * factor)

/** Whether the string contains surrogate pairs. */
export const hasPairs = (text: string): boolean => /[\ud800-\udbff]/.test(text)

/**
 * Returns the size of the smaller of two values. If one of two strings is much longer, its
 * characters are not counted.
 */
export function minSizeOf(one: Value, other: Value): number {
  if (typeof one === 'string' && typeof other === 'string') {
    if (one.length * 2 <= other.length) return countPoints(one)
    if (other.length * 2 <= one.length) return countPoints(other)
  }
  if (isSingle(one)) return Math.min(1, atMostOne(other))
  if (isSingle(other)) return Math.min(1, atMostOne(one))
  return Math.min(sizeOf(one), sizeOf(other))
}

const isSingle = (value: Value): boolean =>
  typeof value !== 'string' && !(value instanceof Uint8Array) && !isList(value) && !isMap(value)

const atMostOne = (value: Value): number =>
  typeof value === 'string' ? Math.min(1, value.length) : sizeOf(value)

/** Returns the number of code points, bytes, items or entries. Returns one for all other values. */
export function sizeOf(value: Result): number {
  if (typeof value === 'string') return countPoints(value)
  if (value instanceof Uint8Array) return value.length
  if (isList(value) || isMap(value)) return value.size
  return 1
}

export function countPoints(text: string): number {
  let count = text.length
  // V8 can check quickly whether all characters are in Latin-1. In this case, there are no
  // surrogate pairs to count.
  if (!hasPairs(text)) return count
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= 0xd800 && unit <= 0xdbff) {
      count--
      at++
    }
  }
  return count
}

/**
 * Returns the cost of visiting a value and everything in it. As in kube-apiserver, the cost of each
 * string depends on its number of bytes, and is rounded down.
 */
export function deepTraversal(value: Value): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * TEXT_FACTOR)
  if (value instanceof Uint8Array) return Math.floor(value.length * TEXT_FACTOR)
  if (!isList(value)) return 1
  let cost = 0
  for (const item of itemsOf(value)) cost += deepTraversal(item)
  return cost
}
