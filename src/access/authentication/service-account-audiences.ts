import { type Fields, textsOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { badToken, type TokenResult } from './token-authenticator.ts'

/**
 * Maximum number of audiences that an error message lists, because the message is logged. No real
 * token has this many audiences.
 */
const SHOWN_MAX = 20
const SHOWN_CHARACTERS_MAX = 256

/**
 * Returns the audiences in the claims of a token. The `aud` claim is a string or a list of strings.
 */
export const audiencesOf = ({ aud }: Fields): readonly string[] =>
  typeof aud === 'string' ? [aud] : textsOf(aud)

/** Returns the requested audiences (`targets`) that a token is valid for. */
export function matchingAudiences(
  given: readonly string[],
  targets: readonly string[],
): readonly string[] {
  const known = new Set(given)
  return targets.filter((audience) => known.has(audience))
}

export function wrongAudiences(given: readonly string[], targets: readonly string[]): TokenResult {
  return badToken(
    `token audiences ${shown(given)} is invalid for the target audiences ${shown(targets)}`,
  )
}

function shown(texts: readonly string[]): string {
  const some = texts.slice(0, SHOWN_MAX).map((text) => quote(text.slice(0, SHOWN_CHARACTERS_MAX)))
  return `[${some.join(' ')}${texts.length > SHOWN_MAX ? ' ...' : ''}]`
}
