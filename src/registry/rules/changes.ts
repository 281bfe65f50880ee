/** Describes the differences between two structs, for errors about immutable fields. */
import { cutText } from '../../lib/text/cut-text.ts'
import { type Fields, type Json } from '../../api/object.ts'
import { isSame } from '../../objects/schema/equal.ts'

/**
 * Returns a line with the old value and a line with the new value of each changed field, as JSON.
 */
export function changesOf(before: Fields, now: Fields): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].toSorted()
  return names
    .filter((name) => !isSame(before[name], now[name]))
    .flatMap((name) => [...line('-', name, before[name]), ...line('+', name, now[name])])
    .join('\n')
}

const line = (sign: string, name: string, value: Json | undefined): string[] =>
  value === undefined ? [] : [`${sign} ${name}: ${cutText(jsonOf(value))}`]

/**
 * Formats a value as JSON. Only values with large integers, which are rare, need a replacer
 * function. Other values are formatted without it, because a replacer is slow.
 */
function jsonOf(value: Json): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'bigint' ? `${inner}` : inner,
    )
  }
}
