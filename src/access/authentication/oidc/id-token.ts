/**
 * Checks the claims that every ID token must have (OpenID Connect Core 1.0, section 3.1.3.7). Some
 * checks precede the verification of the signature, and others follow it.
 */
import { type Fields, isFields, type Json, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import type { Jwt } from '../../../lib/jwt.ts'
import { cannotRead, TokenFault } from './claim-values.ts'

/** Tolerated clock skew for `nbf`, as in kube-apiserver. No clock skew is tolerated for `exp`. */
const NOT_BEFORE_LEEWAY_MS = 60_000

export type IdTokenRules = {
  readonly issuer: string
  /** Accepted audiences. A token must have at least one of them. */
  readonly audiences: readonly string[]
  readonly algorithms: readonly string[]
}

export const quoteAll = (texts: readonly string[]): string => `[${texts.map(quote).join(' ')}]`

/** Checks everything that can be checked without keys. Throws a TokenFault if a check fails. */
export function checkUnverified(
  { claims, algorithm }: Jwt,
  rules: IdTokenRules,
  nowMs: number,
): void {
  const { issuer, audiences, algorithms } = rules
  const { iss, aud, exp, nbf } = readRegistered(claims)
  checkSources(claims)
  if (!isIssuer(iss, issuer)) {
    const what = 'oidc: id token issued by a different provider'
    throw new TokenFault(`${what}, expected ${quote(issuer)} got ${quote(iss)}`)
  }
  const [only, ...others] = audiences
  if (only !== undefined && others.length === 0 && !aud.includes(only)) {
    throw new TokenFault(`oidc: expected audience ${quote(only)} got ${quoteAll(aud)}`)
  }
  if (exp * 1000 < nowMs)
    throw new TokenFault(`oidc: token is expired (Token Expiry: ${goTime(exp)})`)
  if (nbf !== undefined && nowMs + NOT_BEFORE_LEEWAY_MS < nbf * 1000) {
    const now = goTime(Math.floor(nowMs / 1000))
    throw new TokenFault(
      `oidc: current time ${now} before the nbf (not before) time: ${goTime(nbf)}`,
    )
  }
  if (!algorithms.includes(algorithm)) {
    const what = 'oidc: id token signed with unsupported algorithm'
    throw new TokenFault(`${what}, expected ${quoteAll(algorithms)} got ${quote(algorithm)}`)
  }
}

/**
 * Checks that a token has at least one of the accepted audiences. Called after the signature is
 * verified, as in kube-apiserver.
 */
export function checkAudiences({ claims }: Jwt, { audiences }: IdTokenRules): void {
  const { aud } = readRegistered(claims)
  // Bounded: an issuer has only a few configured audiences, so `aud` is searched only a few times.
  if (audiences.some((audience) => aud.includes(audience))) return
  throw new TokenFault(
    `oidc: expected audience in ${quoteAll(audiences.toSorted())} got ${quoteAll(aud)}`,
  )
}

/**
 * Whether the issuer claim matches the issuer. The issuer claim of Google's tokens may lack the URL
 * scheme (OpenID Connect Core 1.0, section 15.6.2).
 */
export const isIssuer = (claimed: string, issuer: string): boolean =>
  claimed === issuer || (claimed === 'accounts.google.com' && issuer === `https://${claimed}`)

type RegisteredClaims = {
  readonly iss: string
  readonly aud: readonly string[]
  /** Expiration in seconds since 1970. A token without expiration counts as expired. */
  readonly exp: number
  readonly nbf: number | undefined
}

/**
 * Reads the registered claims. As in kube-apiserver, claims that are not used here must also have
 * the right types.
 */
function readRegistered(claims: Fields): RegisteredClaims {
  try {
    for (const name of ['sub', 'nonce', 'at_hash'] as const) readTextField(claims, name)
    secondsOf(claims, 'iat')
    readSources(claims)
    return {
      iss: readTextField(claims, 'iss'),
      aud: readAudiences(claims['aud']),
      exp: secondsOf(claims, 'exp') ?? YEAR_1_SECONDS,
      nbf: secondsOf(claims, 'nbf'),
    }
  } catch (error) {
    if (!(error instanceof TokenFault)) throw error
    throw new TokenFault(`oidc: failed to unmarshal claims: ${error.message}`)
  }
}

/** Go's zero time, in seconds since 1970. */
const YEAR_1_SECONDS = Date.parse('0001-01-01T00:00:00Z') / 1000

function readTextField(claims: Fields, name: string): string {
  const value = claims[name] ?? ''
  if (typeof value === 'string') return value
  throw cannotRead(value, `struct field idToken.${name} of type string`)
}

function readAudiences(aud: Json | undefined): readonly string[] {
  if (aud === undefined || aud === null) return aud === null ? [''] : []
  if (typeof aud === 'string') return [aud]
  if (!Array.isArray(aud)) throw cannotRead(aud, 'struct field idToken.aud of type []string')
  return aud.map((item) => {
    if (item === null) return ''
    if (typeof item === 'string') return item
    throw cannotRead(item, 'struct field idToken.aud of type string')
  })
}

/**
 * Reads a time claim. Returns undefined if the claim is absent. As in Go, the claim can be a number
 * or a string that contains a number.
 */
function secondsOf(claims: Fields, name: string): number | undefined {
  const value = claims[name] ?? null
  if (value === null) return undefined
  if (typeof value === 'number' || typeof value === 'bigint') return Math.trunc(Number(value))
  if (typeof value !== 'string')
    throw cannotRead(value, `struct field idToken.${name} of type json.Number`)
  if (/^-?[0-9]{1,18}(?:\.[0-9]+)?$/.test(value)) return Math.trunc(Number(value))
  const literal = quote(JSON.stringify(value))
  throw new TokenFault(`json: invalid number literal, trying to unmarshal ${literal} into Number`)
}

/**
 * Checks that each entry of `_claim_names` refers to one of the `_claim_sources` (OpenID Connect
 * Core 1.0, section 5.6.2).
 */
function checkSources(claims: Fields): void {
  const { names, sources } = readSources(claims)
  for (const source of Object.values(names)) {
    if (source === '' || source === null)
      throw new TokenFault('oidc: failed to obtain source from claim name')
    if (!Object.hasOwn(sources, textOf(source))) throw new TokenFault('oidc: source does not exist')
  }
}

function readSources(claims: Fields): { readonly names: Fields; readonly sources: Fields } {
  const [names, sources] = [claims['_claim_names'] ?? {}, claims['_claim_sources'] ?? {}]
  if (!isFields(names))
    throw cannotRead(names, 'struct field idToken._claim_names of type map[string]string')
  if (!isFields(sources)) {
    throw cannotRead(
      sources,
      'struct field idToken._claim_sources of type map[string]oidc.claimSource',
    )
  }
  const wrong = Object.values(names).find((name) => typeof name !== 'string' && name !== null)
  if (wrong !== undefined)
    throw cannotRead(wrong, 'struct field idToken._claim_names of type string')
  return { names, sources }
}

/** Formats a time as Go does: `2026-01-02 03:04:05 +0000 UTC`. */
function goTime(seconds: number): string {
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime())) return `${seconds} s`
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`
}
