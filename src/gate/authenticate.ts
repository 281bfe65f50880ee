/**
 * Who makes the request. The ways are tried in upstream's order and the first that knows the caller wins; a credential that
 * nobody knows is refused, and only who shows none at all is anonymous.
 */
import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { X509Certificate } from 'node:crypto'
import { unauthorized } from '../api/errors.ts'
import { anonymousUser, authenticatedGroup, type TokenEntry, unauthenticatedGroup, type User } from '../api/user.ts'
import { type TokenFound, tokenInHeader, tokenInProtocols } from './bearer-token.ts'
import type { VerifyCertificate } from './client-certificate.ts'

/** What a request shows of its maker. */
export type Credentials = {
  readonly headers: IncomingHttpHeaders
  readonly peerCertificate: () => X509Certificate | undefined
}

export type Authenticated = { readonly user: User; readonly warning?: string }

/** Fails with Unauthorized. Later kinds of tokens are looked up elsewhere, so callers must be ready to wait. */
export type Authenticate = (credentials: Credentials) => Authenticated | Promise<Authenticated>

export type AuthenticateOptions = {
  /** Later entries of one token win. */
  readonly tokens: readonly TokenEntry[]
  /** Absent: client certificates do not count. */
  readonly verifyCertificate?: VerifyCertificate | undefined
  readonly allowsAnonymous: boolean
}

export function createAuthenticate({ tokens, verifyCertificate, allowsAnonymous }: AuthenticateOptions): Authenticate {
  // Looked up by digest: how long it takes says nothing about how much of a token was right.
  const users = new Map(tokens.map(({ token, user }) => [digest(token), authenticated(user)]))
  const userOfToken = (found: TokenFound): Authenticated | undefined =>
    found.kind === 'token' ? users.get(digest(found.token)) : undefined
  const certified = new WeakMap<User, Authenticated>()

  const byCertificate = (peer: X509Certificate | undefined): Authenticated | 'bad' | undefined => {
    if (verifyCertificate === undefined || peer === undefined) return undefined
    const user = verifyCertificate(peer)
    if (user === 'unverified') return 'bad'
    if (user === undefined) return undefined
    const known = certified.get(user) ?? authenticated(user)
    certified.set(user, known)
    return known
  }

  return ({ headers, peerCertificate }) => {
    const certificate = byCertificate(peerCertificate())
    if (typeof certificate === 'object') return certificate
    const inHeader = tokenInHeader(headers)
    const byHeader = userOfToken(inHeader)
    if (byHeader !== undefined) return byHeader
    const inProtocols = tokenInProtocols(headers)
    const byProtocols = userOfToken(inProtocols)
    if (byProtocols !== undefined) return byProtocols
    if (certificate === 'bad' || isBad(inHeader) || isBad(inProtocols) || !allowsAnonymous) throw unauthorized()
    return inHeader.kind === 'ignored' ? { user: anonymousUser, warning: inHeader.warning } : anonymous
  }
}

const anonymous: Authenticated = { user: anonymousUser }

const digest = (token: string): string => hash('sha256', token, 'base64')

const isBad = ({ kind }: TokenFound): boolean => kind === 'token' || kind === 'bad'

/** Everybody who is known is in one more group, unless they say otherwise themselves. */
function authenticated(user: User): Authenticated {
  const isSaid = user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup)
  return { user: isSaid ? user : { ...user, groups: [...user.groups, authenticatedGroup] } }
}
