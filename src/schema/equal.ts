/** Whether two values say the same: an empty list, an empty map and nothing at all are one. */
import { isFields, type Json } from '../api/object.ts'

export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (isNothing(one) || isNothing(other)) return isNothing(one) && isNothing(other)
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item: Json, at) => isSame(item, other[at]))
  }
  if (!isFields(one) || !isFields(other)) return false
  for (const key in one) if (!isSame(one[key], own(other, key))) return false
  for (const key in other) if (!Object.hasOwn(one, key) && !isNothing(other[key])) return false
  return true
}

const own = (fields: { readonly [key: string]: Json | undefined }, key: string): Json | undefined =>
  Object.hasOwn(fields, key) ? fields[key] : undefined

function isNothing(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true
  if (typeof value !== 'object') return false
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}
