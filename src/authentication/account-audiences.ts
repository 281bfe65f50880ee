import { type Fields, textsOf } from '../api/object.ts'
import { quote } from '../api/quote.ts'
import { badToken, type TokenResult } from './token-authenticator.ts'

/** The audiences of a token's claims, which may be one text. */
export const audiencesOf = ({ aud }: Fields): readonly string[] => (typeof aud === 'string' ? [aud] : textsOf(aud))

export function wrongAudiences(given: readonly string[], targets: readonly string[]): TokenResult {
  return badToken(`token audiences ${shown(given)} is invalid for the target audiences ${shown(targets)}`)
}

const shown = (texts: readonly string[]): string => `[${texts.map(quote).join(' ')}]`
