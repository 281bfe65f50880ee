import { isRecord, type Json } from '../compat/json.ts'

/**
 * A document without descriptions, which are upstream's prose, and with the fields of objects by
 * name, since their order says nothing. A property may be called `description` too; then it is no
 * text.
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
