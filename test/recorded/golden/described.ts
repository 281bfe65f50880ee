import { isRecord, type Json } from '../compat/json.ts'

/**
 * Returns a document with sorted fields, and without the descriptions of kube-apiserver.
 * Descriptions are strings. A schema property with the name `description` is an object, and is
 * therefore kept.
 */
export function undescribed(value: Json): Json {
  if (Array.isArray(value)) return value.map(undescribed)
  if (!isRecord(value)) return value
  const kept = Object.entries(value).filter(
    ([name, field]) => name !== 'description' || typeof field !== 'string',
  )
  const sorted = kept.toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(sorted.map(([name, field]) => [name, undescribed(field)]))
}
