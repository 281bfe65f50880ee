/**
 * Authentication. The authenticators are tried in upstream's order and the first that recognizes the caller wins; an invalid credential is
 * refused, and only a request without any is anonymous. The client learns nothing but that it is refused; the log has the reasons.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { unauthorized } from '../api/errors.ts'
import type { PeerCertificate } from '../api/request.ts'
import { anonymousUser, type User } from '../api/user.ts'
import type { Log } from '../lib/log.ts'
import { withAuthenticatedGroup } from './authenticated-group.ts'
import { type TokenFound, tokenInHeader, tokenInProtocols } from './bearer-token.ts'
import type { VerifyCertificate } from './client-certificate.ts'
import { joinReasons } from './token-chain.ts'
import type { KnownToken, TokenResult } from './token-authenticator.ts'

/** The parts of a request that may contain credentials, and its path. */
export type Credentials = {
  readonly headers: IncomingHttpHeaders
  readonly path: string
  readonly peerCertificate: () => PeerCertificate | undefined
}

export type Authenticated = { readonly user: User } & Pick<KnownToken, 'warnings' | 'annotations'>

/** Fails with Unauthorized. Returns a promise only if something has to be awaited, such as objects that a token is bound to. */
export type Authenticate = (credentials: Credentials) => Authenticated | Promise<Authenticated>

export type AuthenticateOptions = {
  /** For the audiences of the server. */
  readonly authenticateToken: (token: string) => TokenResult | Promise<TokenResult>
  /** Absent: client certificates are ignored. */
  readonly verifyCertificate?: VerifyCertificate | undefined
  /** `paths`: those that accept anonymous requests; none: all. */
  readonly anonymous: { readonly isEnabled: boolean; readonly paths: readonly string[] }
  readonly log: Log
}

type Looked = Authenticated | undefined | Promise<Authenticated | undefined>

export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { authenticateToken, verifyCertificate, anonymous, log } = options
  const certified = new WeakMap<User, Authenticated>()
  const openPaths = new Set(anonymous.paths)
  const isOpen = (path: string): boolean => anonymous.isEnabled && (openPaths.size === 0 || openPaths.has(path))

  const byCertificate = (peer: PeerCertificate | undefined, refusals: string[]): Authenticated | undefined => {
    if (verifyCertificate === undefined || peer === undefined) return undefined
    const user = verifyCertificate(peer)
    if (user === 'unverified') refusals.push('the client certificate could not be verified')
    if (user === 'unverified' || user === undefined) return undefined
    const known = certified.get(user) ?? { user: withAuthenticatedGroup(user) }
    certified.set(user, known)
    return known
  }

  const byToken = (found: TokenFound, refusals: string[]): Looked => {
    if (found.kind === 'bad') refusals.push('malformed bearer token')
    if (found.kind !== 'token') return undefined
    const result = authenticateToken(found.token)
    return result instanceof Promise ? result.then((later) => knownOf(later, refusals)) : knownOf(result, refusals)
  }

  return ({ headers, path, peerCertificate }) => {
    const refusals: string[] = []
    const certificate = byCertificate(peerCertificate(), refusals)
    if (certificate !== undefined) return certificate
    const inHeader = tokenInHeader(headers)
    const orNobody = (): Authenticated => {
      if (refusals.length > 0) log('info', 'Unable to authenticate the request', { error: joinReasons(refusals) })
      if (refusals.length > 0 || !isOpen(path)) throw unauthorized()
      return inHeader.kind === 'ignored' ? { user: anonymousUser, warnings: [inHeader.warning] } : nobody
    }
    const orInProtocols = (): Authenticated | Promise<Authenticated> =>
      orElse(byToken(tokenInProtocols(headers), refusals), orNobody)
    return orElse(byToken(inHeader, refusals), orInProtocols)
  }
}

function knownOf(result: TokenResult, refusals: string[]): Authenticated | undefined {
  if (result.kind === 'known') return result
  refusals.push(result.kind === 'bad' ? result.why : 'invalid bearer token')
  return undefined
}

/** Stays synchronous if there is no promise to wait for. */
function orElse(looked: Looked, other: () => Authenticated | Promise<Authenticated>) {
  return looked instanceof Promise ? afterwards(looked, other) : (looked ?? other())
}

async function afterwards(
  looking: Promise<Authenticated | undefined>,
  other: () => Authenticated | Promise<Authenticated>,
): Promise<Authenticated> {
  return (await looking) ?? other()
}

const nobody: Authenticated = { user: anonymousUser }
