/**
 * Authentication. The authenticators are tried in upstream's order and the first that recognizes the caller wins; an invalid credential is
 * refused, and only a request without any is anonymous.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { unauthorized } from '../api/errors.ts'
import type { PeerCertificate } from '../api/request.ts'
import { anonymousUser, type User } from '../api/user.ts'
import { type TokenFound, tokenInHeader, tokenInProtocols } from './bearer-token.ts'
import { type LookUpToken, withGroup } from './look-up-token.ts'
import type { VerifyCertificate } from './client-certificate.ts'

/** The parts of a request that may contain credentials. */
export type Credentials = {
  readonly headers: IncomingHttpHeaders
  readonly peerCertificate: () => PeerCertificate | undefined
}

export type Authenticated = { readonly user: User; readonly warning?: string }

/** Fails with Unauthorized. Returns a promise only if other objects have to be read, as for service account tokens. */
export type Authenticate = (credentials: Credentials) => Authenticated | Promise<Authenticated>

export type AuthenticateOptions = {
  readonly lookUpToken: LookUpToken
  /** Absent: client certificates are ignored. */
  readonly verifyCertificate?: VerifyCertificate | undefined
  readonly allowsAnonymous: boolean
}

type Looked = Authenticated | undefined | Promise<Authenticated | undefined>

export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { lookUpToken, verifyCertificate, allowsAnonymous } = options
  const certified = new WeakMap<User, Authenticated>()

  const byCertificate = (peer: PeerCertificate | undefined): Authenticated | 'bad' | undefined => {
    if (verifyCertificate === undefined || peer === undefined) return undefined
    const user = verifyCertificate(peer)
    if (user === 'unverified') return 'bad'
    if (user === undefined) return undefined
    const known = certified.get(user) ?? { user: withGroup(user) }
    certified.set(user, known)
    return known
  }

  const byToken = (found: TokenFound): Looked => {
    if (found.kind !== 'token') return undefined
    const result = lookUpToken(found.token, [])
    if (result instanceof Promise) return result.then((later) => (later.kind === 'known' ? later : undefined))
    return result.kind === 'known' ? result : undefined
  }

  return ({ headers, peerCertificate }) => {
    const certificate = byCertificate(peerCertificate())
    if (typeof certificate === 'object') return certificate
    const inHeader = tokenInHeader(headers)
    const inProtocols = tokenInProtocols(headers)
    const orNobody = (): Authenticated => {
      if (certificate === 'bad' || isBad(inHeader) || isBad(inProtocols) || !allowsAnonymous) throw unauthorized()
      return inHeader.kind === 'ignored' ? { user: anonymousUser, warning: inHeader.warning } : anonymous
    }
    return orElse(byToken(inHeader), () => orElse(byToken(inProtocols), orNobody))
  }
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

const anonymous: Authenticated = { user: anonymousUser }

const isBad = ({ kind }: TokenFound): boolean => kind === 'token' || kind === 'bad'
