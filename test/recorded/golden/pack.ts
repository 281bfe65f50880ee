/**
 * Packs JSON values that have much in common, such as OpenAPI documents, into one text. A value
 * that occurs more than once is written only once, as a part, and `{"$":7}` stands for part 7. A
 * part can refer to earlier parts. If a field is named `$`, `$$` and so on, another `$` is added to
 * its name. Packing is lossless and preserves the order of fields.
 */
import { isRecord, type Json } from '../compat/json.ts'

/** Minimum length of a part. A shorter one would save nothing. */
const PART_CHARACTERS_MIN = 24

const DOLLARS = /^\$+$/

export type Values = Readonly<Record<string, Json>>

export function pack(values: Values): string {
  const counts = new Map<string, number>()
  for (const value of Object.values(values)) count(value, counts)
  const parts: string[] = []
  const numbers = new Map<string, number>()
  const shown = (value: Json): string => {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const text = JSON.stringify(value)
    const known = numbers.get(text)
    if (known !== undefined) return `{"$":${known}}`
    const inner = Array.isArray(value)
      ? `[${value.map(shown).join(',')}]`
      : `{${Object.entries(value)
          .map(
            ([name, field]) =>
              `${JSON.stringify(DOLLARS.test(name) ? `$${name}` : name)}:${shown(field)}`,
          )
          .join(',')}}`
    if ((counts.get(text) ?? 0) < 2) return inner
    numbers.set(text, parts.push(inner) - 1)
    return `{"$":${parts.length - 1}}`
  }
  const lines = Object.entries(values).map(
    ([name, value]) => `${JSON.stringify(name)}:${shown(value)}`,
  )
  return `{"parts":[\n${parts.join(',\n')}\n],"values":{\n${lines.join(',\n')}\n}}\n`
}

/**
 * Counts how often each value occurs. Values that are too short to be a part are ignored. A value
 * inside another one is counted only at the first occurrence of the outer value.
 */
function count(value: Json, counts: Map<string, number>): void {
  if (typeof value !== 'object' || value === null) return
  const text = JSON.stringify(value)
  if (text.length >= PART_CHARACTERS_MIN) {
    const seen = counts.get(text) ?? 0
    counts.set(text, seen + 1)
    if (seen > 0) return
  }
  for (const inner of Object.values(value)) count(inner, counts)
}

/** Unpacks values. The values can share parts, so they must not be modified. */
export function unpack(text: string): Map<string, Json> {
  const packed: { readonly parts: Json[]; readonly values: Record<string, Json> } = JSON.parse(text)
  const parts: Json[] = []
  const whole = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(whole)
    if (!isRecord(value)) return value
    const part = value['$']
    if (typeof part === 'number') return parts[part] ?? null
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [
        DOLLARS.test(name) ? name.slice(1) : name,
        whole(field),
      ]),
    )
  }
  for (const part of packed.parts) parts.push(whole(part))
  return new Map(Object.entries(packed.values).map(([name, value]) => [name, whole(value)]))
}
