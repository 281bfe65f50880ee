import { type Fields, textsOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { badToken, type TokenResult } from './token-authenticator.ts'

/** Of a message, which is logged: more than any token has. */
const SHOWN_MAX = 20
const SHOWN_CHARACTERS_MAX = 256

/** The audiences of a token's claims, which may be one text. */
export const audiencesOf = ({ aud }: Fields): readonly string[] =>
  typeof aud === 'string' ? [aud] : textsOf(aud)

/** Those of the requested audiences that a token with these is for. */
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
