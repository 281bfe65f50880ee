/** Predicates on JSON values. */
import { hasNoKeys, isFields, type Json } from '../../api/object.ts'
import { everyItem, everyKey, isDivided, once } from '../../lib/scheduling/parts.ts'

/** Whether a value is an empty map. */
export function isEmptyMap(value: Json): boolean {
  if (!isFields(value)) return false
  return isDivided() ? once('is empty map', () => hasNoKeys(value)) : hasNoKeys(value)
}

/** Whether a value is null, an empty list or an empty map. */
export const isNothing = (value: Json): boolean =>
  value === null || (Array.isArray(value) ? value.length === 0 : isEmptyMap(value))

/** Whether two values are equal. The order of map keys is ignored. */
export function isEqual(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      everyItem('equal JSON items', one, (item: Json, at) => isEqual(item, other[at]))
    )
  }
  if (!isFields(one) || !isFields(other)) return false
  if (isDivided()) {
    const keys = once('keys of JSON fields', () => Object.keys(one))
    const count = once('number of other JSON fields', () => Object.keys(other).length)
    return (
      keys.length === count &&
      everyItem('equal JSON fields', keys, (key) => isEqual(one[key], other[key]))
    )
  }
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length && keys.every((key) => isEqual(one[key], other[key]))
  )
}

/**
 * Whether two decoded values certainly differ when they are serialized. Empty and zero values might
 * not differ, because they can be omitted.
 */
export function isSurelyOther(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return false
  if (Array.isArray(one) && Array.isArray(other)) {
    if (one.length !== other.length) return one.length > 0 && other.length > 0
    return !everyItem('other JSON items', one, (item: Json, at) => !isSurelyOther(item, other[at]))
  }
  if (isFields(one) && isFields(other)) {
    if (isDivided()) {
      if (!everyKey('other JSON fields', one, (key) => !isSurelyOther(one[key], other[key])))
        return true
      return !everyKey(
        'more JSON fields',
        other,
        (key) => one[key] !== undefined || !hasValue(other[key]),
      )
    }
    for (const key in one) if (isSurelyOther(one[key], other[key])) return true
    for (const key in other) if (one[key] === undefined && hasValue(other[key])) return true
    return false
  }
  return hasValue(one) || hasValue(other)
}

/** Whether a value contains anything that is never omitted when it is serialized. */
function hasValue(value: Json | undefined): boolean {
  if (value === undefined || value === null) return false
  if (typeof value !== 'object') return value !== '' && value !== 0 && value !== false
  return (Array.isArray(value) ? value : Object.values(value)).some(hasValue)
}
