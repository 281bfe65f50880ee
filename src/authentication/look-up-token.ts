/** The user of a bearer token: a static one, or that of a service account. */
import { hash } from 'node:crypto'
import { authenticatedGroup, type TokenEntry, unauthenticatedGroup, type User } from '../api/user.ts'
import type { AuthenticateAccount, TokenResult } from './account-token.ts'

export type TokensOptions = {
  /** If a token occurs twice, the later entry wins. */
  readonly entries: readonly TokenEntry[]
  /** The server's own audiences, which static tokens are valid for. */
  readonly audiences: readonly string[]
  /** Absent: service account tokens are not accepted. */
  readonly authenticateAccount?: AuthenticateAccount | undefined
}

/** Synchronous for static tokens. No audiences: those of the server. */
export type LookUpToken = (token: string, audiences: readonly string[]) => TokenResult | Promise<TokenResult>

export function createLookUpToken({ entries, audiences, authenticateAccount }: TokensOptions): LookUpToken {
  // Looked up by digest, so that the time of a lookup reveals nothing about a token.
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

/** Adds system:authenticated, unless the user already has it or system:unauthenticated. */
export function withGroup(user: User): User {
  const isSaid = user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup)
  return isSaid ? user : { ...user, groups: [...user.groups, authenticatedGroup] }
}
