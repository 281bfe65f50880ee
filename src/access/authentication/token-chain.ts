/**
 * The chain of bearer token authenticators. The first authenticator that knows the token determines
 * the user, even if earlier ones rejected the token.
 */
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { withAuthenticatedGroup } from './authenticated-group.ts'
import {
  type AuthenticateToken,
  badToken,
  type TokenResult,
  unknownToken,
} from './token-authenticator.ts'

export function createTokenChain(authenticators: readonly AuthenticateToken[]): AuthenticateToken {
  const tryFrom = (
    start: number,
    token: string,
    audiences: readonly string[],
    refusals: string[],
  ): Trying => {
    for (let at = start; at < authenticators.length; at++) {
      const result = authenticators[at]?.(token, audiences) ?? unknownToken
      if (result instanceof Promise) {
        return result.then(
          (later) => settle(later, refusals) ?? tryFrom(at + 1, token, audiences, refusals),
        )
      }
      const settled = settle(result, refusals)
      if (settled !== undefined) return settled
    }
    return refusals.length === 0 ? unknownToken : badToken(joinReasons(refusals))
  }
  return (token, audiences) => tryFrom(0, token, audiences, [])
}

type Trying = MaybePromise<TokenResult>

/**
 * Returns the result of an authenticator that knows the token, or undefined to try the next
 * authenticator.
 */
function settle(result: TokenResult, refusals: string[]): TokenResult | undefined {
  if (result.kind === 'known') {
    const user = withAuthenticatedGroup(result.user)
    return user === result.user ? result : { ...result, user }
  }
  if (result.kind === 'bad') refusals.push(result.why)
  return undefined
}

/** Joins error messages without duplicates. Unlike kube-apiserver, adds no brackets around them. */
export const joinReasons = (whys: readonly string[]): string => [...new Set(whys)].join(', ')
