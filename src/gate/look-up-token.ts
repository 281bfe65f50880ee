/** Whose a bearer token is: one that the server was configured with, or that of a service account. */
import { hash } from 'node:crypto'
import { authenticatedGroup, type TokenEntry, unauthenticatedGroup, type User } from '../api/user.ts'
import type { AuthenticateAccount, TokenResult } from './account-token.ts'

export type TokensOptions = {
  /** Later entries of one token win. */
  readonly entries: readonly TokenEntry[]
  /** The server's own: what a token that says nothing is for. */
  readonly audiences: readonly string[]
  /** Absent: there are no tokens of service accounts. */
  readonly authenticateAccount?: AuthenticateAccount | undefined
}

/** At once where nobody has to be asked. No audiences: those of the server. */
export type LookUpToken = (token: string, audiences: readonly string[]) => TokenResult | Promise<TokenResult>

export function createLookUpToken({ entries, audiences, authenticateAccount }: TokensOptions): LookUpToken {
  // Looked up by digest: how long it takes says nothing about how much of a token was right.
  const users = new Map(entries.map(({ token, user }) => [digest(token), withGroup(user)]))
  return (token, wanted) => {
    const user = users.get(digest(token))
    if (user === undefined) return authenticateAccount?.(token, wanted).then(inGroup) ?? { kind: 'unknown' }
    const shared = wanted.length === 0 ? audiences : wanted.filter((audience) => audiences.includes(audience))
    return wanted.length > 0 && shared.length === 0 ? { kind: 'unknown' } : { kind: 'known', user, audiences: shared }
  }
}

const digest = (token: string): string => hash('sha256', token, 'base64')

const inGroup = (result: TokenResult): TokenResult =>
  result.kind === 'known' ? { ...result, user: withGroup(result.user) } : result

/** Everybody who is known is in one more group, unless they say otherwise themselves. */
export function withGroup(user: User): User {
  const isSaid = user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup)
  return isSaid ? user : { ...user, groups: [...user.groups, authenticatedGroup] }
}
