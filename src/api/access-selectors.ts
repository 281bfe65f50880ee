/**
 * The selectors of a request as authorizers see them, parsed on demand: most authorizers ignore
 * them.
 */
import type { AccessSelectors } from './access.ts'
import { ApiError } from './errors.ts'
import { parseFieldSelector } from './field-selector.ts'
import { parseLabelSelector, type Requirement } from './label-selector.ts'

/** A longer selector is not parsed before authorization: it yields no name, and grants nothing. */
export const SELECTOR_CHARACTERS_MAX = 4096

/** Undefined: both texts are empty. */
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

/** By key, and values by themselves, as upstream keeps the requirements of a text. */
const parseSorted = (text: string): readonly Requirement[] =>
  parseLabelSelector(text)
    .map((one) => ('values' in one ? { ...one, values: new Set([...one.values].toSorted()) } : one))
    .toSorted((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))

/** A selector that cannot be parsed is ignored: what is asked about is only broader then. */
function parsedOrNone<T>(selector: string, parse: (text: string) => readonly T[]): readonly T[] {
  if (selector.length > SELECTOR_CHARACTERS_MAX) return []
  try {
    return parse(selector)
  } catch (error) {
    if (error instanceof ApiError) return []
    throw error
  }
}
