/**
 * Parses JWTs. The authenticators of service accounts, legacy tokens and OIDC issuers inspect a
 * token one after the other, in the same tick, to find out which authenticator is responsible. The
 * token is not verified at that point. Parsing a long token takes milliseconds, so it is parsed
 * only once.
 */
import { parseJson } from '../../api/json-value.ts'
import { type Jwt, parseJwt } from '../../lib/jwt.ts'

/** Longer tokens are not parsed. A token with a few hundred groups has about half this length. */
const TOKEN_CHARACTERS_MAX = 32 * 1024

/**
 * Parses a JWT, or returns undefined if the string is not a JWT. Until the signature is verified,
 * use the claims only to find out which authenticator can verify the token.
 */
export type ParseToken = (token: string) => Jwt | undefined

export function createParseToken(): ParseToken {
  let last: { readonly token: string; readonly jwt: Jwt | undefined } | undefined
  // Do not retain a token beyond the current tick.
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
