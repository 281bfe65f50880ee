/** Whether two values say the same: an empty list, an empty map and nothing at all are one. */
import { isFields, type Json } from '../api/object.ts'

export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (isNothing(one) || isNothing(other)) return isNothing(one) && isNothing(other)
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item: Json, at) => isSame(item, other[at]))
  }
  if (!isFields(one) || !isFields(other)) return false
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].every((key) => isSame(own(one, key), own(other, key)))
}

const own = (fields: { readonly [key: string]: Json | undefined }, key: string): Json | undefined =>
  Object.hasOwn(fields, key) ? fields[key] : undefined

function isNothing(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true
  if (typeof value !== 'object') return false
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}
