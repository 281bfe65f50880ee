/** Questions about plain JSON values. */
import { isFields, type Json } from '../api/object.ts'

export const listOf = (value: Json): readonly Json[] => (Array.isArray(value) ? value : [])

/** Only what is a map, and empty. */
export function isEmptyMap(value: Json): boolean {
  if (!isFields(value)) return false
  for (const _ in value) return false
  return true
}

/** Null, an empty list or an empty map. */
export const isNothing = (value: Json): boolean =>
  value === null || (Array.isArray(value) ? value.length === 0 : isEmptyMap(value))

/** Keys in any order. */
export function isEqual(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) && one.length === other.length && one.every((item: Json, at) => isEqual(item, other[at]))
    )
  }
  if (!isFields(one) || !isFields(other)) return false
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length && keys.every((key) => isEqual(one[key], other[key]))
}
