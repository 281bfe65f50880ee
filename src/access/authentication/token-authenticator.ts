/**
 * The interface of token authenticators. Service accounts, bootstrap tokens, issuers and webhooks
 * each implement it.
 */
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { AuthenticatedUser } from './attempt.ts'

export type TokenResult =
  | CachedToken
  /**
   * The authenticator is responsible for the token, but the token is not valid or the authenticator
   * failed. The reason is for the log and for TokenReviews.
   */
  | { readonly kind: 'bad'; readonly why: string }
  /** The authenticator does not know the token. */
  | { readonly kind: 'unknown' }

export type CachedToken = AuthenticatedUser & {
  readonly kind: 'known'
  /** The requested audiences for which the token is valid. */
  readonly audiences: readonly string[]
}

/**
 * Authenticates a token, which must be valid for one of the audiences. If the list of audiences is
 * empty, audiences are not checked. Returns a promise only if it has to wait. If the promise
 * rejects, the request fails.
 */
export type AuthenticateToken = (
  token: string,
  audiences: readonly string[],
) => MaybePromise<TokenResult>

export const unknownToken: TokenResult = { kind: 'unknown' }

export const badToken = (why: string): TokenResult => ({ kind: 'bad', why })

/**
 * Wraps an authenticator that ignores audiences. Its tokens are valid for the audiences of the
 * server.
 */
export function withServerAudiences(
  served: readonly string[],
  authenticate: (token: string) => MaybePromise<TokenResult>,
): AuthenticateToken {
  return (token, audiences) => {
    const shared = sharedAudiences(served, audiences)
    if (audiences.length > 0 && shared.length === 0) return unknownToken
    const result = authenticate(token)
    return result instanceof Promise
      ? result.then((later) => isFor(later, shared))
      : isFor(result, shared)
  }
}

export const sharedAudiences = (
  served: readonly string[],
  audiences: readonly string[],
): readonly string[] =>
  // Bounded: `served` contains only the few audiences of the server, so each search is short.
  served === audiences ? served : audiences.filter((audience) => served.includes(audience))

const isFor = (result: TokenResult, audiences: readonly string[]): TokenResult =>
  result.kind === 'known' ? { ...result, audiences } : result
