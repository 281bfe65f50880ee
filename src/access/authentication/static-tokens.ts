/** Static bearer tokens, from --token-auth-file. */
import { hash } from 'node:crypto'
import type { TokenEntry } from '../../api/user.ts'
import { withAuthenticatedGroup } from './authenticated-group.ts'
import { sharedAudiences, type TokenResult, unknownToken } from './token-authenticator.ts'

/** Looks up a token. Unlike other token authenticators, never returns a promise. */
type AuthenticateStatic = (token: string, audiences: readonly string[]) => TokenResult

/**
 * Creates an authenticator for static tokens, which are valid for the audiences of the server. If a
 * token occurs more than once, the last entry is used.
 */
export function createStaticTokens(
  entries: readonly TokenEntry[],
  served: readonly string[],
): AuthenticateStatic {
  // Look up tokens by digest, so that the duration of a lookup reveals nothing about a token.
  const results = new Map(
    entries.map(({ token, user }): readonly [string, TokenResult] => [
      digest(token),
      { kind: 'known', user: withAuthenticatedGroup(user), audiences: served },
    ]),
  )
  if (results.size === 0) return () => unknownToken
  return (token, audiences) => {
    const result = results.get(digest(token))
    if (result?.kind !== 'known') return unknownToken
    const shared = sharedAudiences(served, audiences)
    if (shared === served) return result
    return audiences.length > 0 && shared.length === 0
      ? unknownToken
      : { ...result, audiences: shared }
  }
}

const digest = (token: string): string => hash('sha256', token, 'base64')
