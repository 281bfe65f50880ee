/** Field selectors: `metadata.name=x,status.phase!=Active`, with backslash before `\`, `,` and `=` in values. */
import { badRequest } from './errors.ts'

export type FieldTerm = { readonly field: string; readonly isEqual: boolean; readonly value: string }

/** Refuses with a BadRequest what is no selector. An empty one has no terms. */
export function parseFieldSelector(text: string): readonly FieldTerm[] {
  return splitTerms(text)
    .filter((term) => term !== '')
    .map((term) => parseTerm(text, term))
    .filter(({ field, value }) => field !== '' || value !== '')
}

/** Splits at commas that no backslash protects. */
function splitTerms(text: string): string[] {
  return text.match(/(?:\\[\s\S]|[^,\\]|\\$)+/g) ?? []
}

function parseTerm(selector: string, term: string): FieldTerm {
  // The first operator decides; a field's name has none in it.
  const match = /^([^=!]*(?:!(?!=)[^=!]*)*)(!=|==|=)([\s\S]*)$/.exec(term)
  if (match === null) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`)
  const [, field = '', operator = '', value = ''] = match
  return { field, isEqual: operator !== '!=', value: unescapeValue(value) }
}

function unescapeValue(value: string): string {
  return value.replace(/\\([\s\S]?)|[,=]/g, (found, escaped?: string) => {
    if (escaped === undefined) {
      throw badRequest(`invalid field selector: unescaped character in value: ${found.charCodeAt(0)}`)
    }
    if (escaped === '\\' || escaped === ',' || escaped === '=') return escaped
    throw badRequest(`invalid field selector: invalid escape sequence: ${found}`)
  })
}
