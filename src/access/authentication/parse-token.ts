/**
 * Tokens are JWTs to the authenticators of service accounts, of legacy tokens and of issuers, which
 * look at one after the other, in one turn, to find whose it is. Nobody has verified it by then,
 * and a long one takes some ms to parse: it is parsed once.
 */
import { parseJson } from '../../api/json-value.ts'
import { type Jwt, parseJwt } from '../../lib/jwt.ts'

/**
 * Tokens that are longer are not parsed. An issuer's token with some hundred groups has half as
 * many.
 */
const TOKEN_CHARACTERS_MAX = 32 * 1024

/**
 * Undefined if the text is no JWT. Its claims must not be trusted, but for finding who can verify
 * it.
 */
export type ParseToken = (token: string) => Jwt | undefined

export function createParseToken(): ParseToken {
  let last: { readonly token: string; readonly jwt: Jwt | undefined } | undefined
  // No token is kept beyond the turn.
  const forget = (): void => {
    last = undefined
  }
  return (token) => {
    if (token.length > TOKEN_CHARACTERS_MAX) return undefined
    if (last?.token === token) return last.jwt
    if (last === undefined) queueMicrotask(forget)
    last = { token, jwt: parseJwt(token, parseJson) }
    return last.jwt
  }
}
