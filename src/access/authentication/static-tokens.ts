/** Static bearer tokens, of --token-auth-file. */
import { hash } from 'node:crypto'
import type { TokenEntry } from '../../api/user.ts'
import { withAuthenticatedGroup } from './authenticated-group.ts'
import { sharedAudiences, type TokenResult, unknownToken } from './token-authenticator.ts'

/** As `AuthenticateToken`; nothing has to be awaited. */
type AuthenticateStatic = (token: string, audiences: readonly string[]) => TokenResult

/** They are for the server's own audiences. If a token occurs twice, the later entry wins. */
export function createStaticTokens(
  entries: readonly TokenEntry[],
  served: readonly string[],
): AuthenticateStatic {
  // Looked up by digest, so that the time of a lookup reveals nothing about a token.
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
