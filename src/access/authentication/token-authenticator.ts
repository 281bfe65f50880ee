/**
 * A bearer token's authenticator: service accounts, bootstrap tokens, issuers and webhooks each
 * have one.
 */
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { AuthenticatedUser } from './attempt.ts'

export type TokenResult =
  | CachedToken
  /**
   * Of this authenticator, but not valid; or the authenticator failed. The reason is for the log
   * and for TokenReviews.
   */
  | { readonly kind: 'bad'; readonly why: string }
  /** Not a token of this authenticator. */
  | { readonly kind: 'unknown' }

export type CachedToken = AuthenticatedUser & {
  readonly kind: 'known'
  /** Those of the requested audiences that the token is for. */
  readonly audiences: readonly string[]
}

/**
 * The token must be for one of the audiences; if there are none, audiences are not checked.
 * Synchronous where nothing has to be awaited. A promise that rejects fails the request.
 */
export type AuthenticateToken = (
  token: string,
  audiences: readonly string[],
) => MaybePromise<TokenResult>

export const unknownToken: TokenResult = { kind: 'unknown' }

export const badToken = (why: string): TokenResult => ({ kind: 'bad', why })

/** For an authenticator that knows nothing of audiences: its tokens are for those of the server. */
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
  // limit: the server has a few audiences
  served === audiences ? served : audiences.filter((audience) => served.includes(audience))

const isFor = (result: TokenResult, audiences: readonly string[]): TokenResult =>
  result.kind === 'known' ? { ...result, audiences } : result
