/**
 * Field selectors such as `metadata.name=x,status.phase!=Active`. In values, a backslash escapes
 * `\`, `,` and `=`.
 */
import { cutText } from '../lib/text/cut-text.ts'
import { BACKSLASH, COMMA } from '../lib/bytes/ascii.ts'
import { badRequest } from './errors.ts'

export type FieldTerm = {
  readonly field: string
  readonly isEqual: boolean
  readonly value: string
}

/**
 * Maximum number of terms. Each term is evaluated for each object, and no kind has more than a few
 * selectable fields.
 */
const TERMS_MAX = 1000

const EQUALS = 0x3d

/**
 * Parses a field selector. An empty string has no terms. Fails with a BadRequest if the string is
 * not a field selector.
 */
export function parseFieldSelector(text: string): readonly FieldTerm[] {
  const terms: FieldTerm[] = []
  for (let from = 0, end = 0; from < text.length; from = end + 1) {
    end = endOfTerm(text, from)
    if (end === from) continue
    if (terms.length === TERMS_MAX)
      throw badRequest(`a field selector may have at most ${TERMS_MAX} terms`)
    terms.push(parseTerm(text, text.slice(from, end)))
  }
  return terms.filter(({ field, value }) => field !== '' || value !== '')
}

/** Returns the position of the next comma that is not escaped, or the end of the selector. */
function endOfTerm(text: string, from: number): number {
  let at = from
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === COMMA) return at
    if (code === BACKSLASH) at++
  }
  return text.length
}

function parseTerm(selector: string, term: string): FieldTerm {
  // A field name cannot contain an operator, so it ends at the first operator.
  const mark = term.indexOf('=')
  if (mark === -1)
    throw badRequest(
      `invalid selector: '${cutText(selector)}'; can't understand '${cutText(term)}'`,
    )
  const isEqual = term[mark - 1] !== '!'
  const isDouble = isEqual && term[mark + 1] === '='
  return {
    field: term.slice(0, isEqual ? mark : mark - 1),
    isEqual,
    value: unescapeValue(term.slice(isDouble ? mark + 2 : mark + 1)),
  }
}

function unescapeValue(value: string): string {
  const pieces: string[] = []
  let from = 0
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at)
    if (code === COMMA || code === EQUALS) {
      throw badRequest(`invalid field selector: unescaped character in value: ${code}`)
    }
    if (code !== BACKSLASH) continue
    pieces.push(value.slice(from, at))
    from = ++at
    const escaped = value[at] ?? ''
    if (escaped !== '\\' && escaped !== ',' && escaped !== '=') {
      throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped}`)
    }
  }
  return from === 0 ? value : pieces.join('') + value.slice(from)
}
