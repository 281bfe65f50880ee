/**
 * The field and label selectors of a request, for authorizers. They are parsed on demand, because
 * most authorizers ignore them.
 */
import type { AccessSelectors } from './access.ts'
import { ApiError } from './errors.ts'
import { parseFieldSelector } from './field-selector.ts'
import { parseLabelSelector, type Requirement } from './label-selector.ts'

/**
 * Maximum length of a selector that is parsed before authorization. A longer selector is ignored,
 * so the user needs access to all objects, not only to those that the selector selects.
 */
export const SELECTOR_CHARACTERS_MAX = 4096

/**
 * Returns a function that parses the field selector and the label selector, or undefined if both
 * are empty.
 */
export function accessSelectors(
  fields: string,
  labels: string,
): (() => AccessSelectors) | undefined {
  if (fields === '' && labels === '') return undefined
  return () => ({
    fields: parsedOrNone(fields, parseFieldSelector),
    labels: parsedOrNone(labels, parseSorted),
  })
}

/**
 * Parses requirements. As in kube-apiserver, they are sorted by key, and the values of each
 * requirement are also sorted.
 */
const parseSorted = (text: string): readonly Requirement[] =>
  parseLabelSelector(text)
    .map((one) => ('values' in one ? { ...one, values: new Set([...one.values].toSorted()) } : one))
    .toSorted((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))

/**
 * Parses a selector. A selector that cannot be parsed is ignored. The user then needs access to all
 * objects, not only to those that the selector would select.
 */
function parsedOrNone<T>(selector: string, parse: (text: string) => readonly T[]): readonly T[] {
  if (selector.length > SELECTOR_CHARACTERS_MAX) return []
  try {
    return parse(selector)
  } catch (error) {
    if (error instanceof ApiError) return []
    throw error
  }
}
