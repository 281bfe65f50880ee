/**
 * Many JSON values that have much in common, such as the OpenAPI documents, as one text: what
 * occurs more than once is written once, as a part, and `{"$":7}` stands for part 7. A part may
 * refer to parts before it. A field whose own name is `$`, `$$` and so on gets another `$`. Nothing
 * is lost, the order of fields included.
 */
import { isRecord, type Json } from '../compat/json.ts'

/** A shorter part would save nothing. */
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
 * How often each value occurs that is worth a part. What is inside of a value that was seen before
 * is not counted again.
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

/** Values that have a part in common share it: they are not to be changed. */
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
