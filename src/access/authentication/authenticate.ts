/**
 * Authentication. The authenticators are tried in upstream's order and the first that recognizes
 * the caller wins; an invalid credential is refused, and only a request without any is anonymous.
 * The client learns nothing but that it is refused; the log has the reasons.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError, unauthorized } from '../../api/errors.ts'
import type { PeerCertificate } from '../../api/request.ts'
import { ofSharedHeaders } from '../../api/shared-headers.ts'
import { anonymousUser } from '../../api/user.ts'
import { createBoundedLog } from '../../lib/telemetry/bounded-log.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { type Attempt, type AuthenticatedUser, unknownCaller } from './attempt.ts'
import { type BearerTokenResult, tokenInHeader, tokenInProtocols } from './bearer-token.ts'
import type { VerifyCertificate } from './client-certificate.ts'
import type { AuthenticationMetrics } from './metrics.ts'
import type { VerifyProxy } from './request-header.ts'
import { joinReasons } from './token-chain.ts'

/** The parts of a request that may contain credentials, and its path. */
export type Credentials = {
  readonly headers: IncomingHttpHeaders
  readonly path: string
  readonly peerCertificate: () => PeerCertificate | undefined
}

/**
 * Fails with Unauthorized. Returns a promise only if something has to be awaited, such as objects
 * that a token is bound to. `response` takes warnings to the client, which also one that is refused
 * gets. `startMs`: since when it is measured, on the monotonic clock.
 */
export type Authenticate = (
  credentials: Credentials,
  response: { warn(text: string): void },
  startMs: number,
) => MaybePromise<AuthenticatedUser>

export type AuthenticateOptions = {
  /** Absent: there are no front proxies. */
  readonly verifyProxy?: VerifyProxy | undefined
  /** Absent: client certificates are ignored. */
  readonly verifyCertificate?: VerifyCertificate | undefined
  /**
   * A token that means the same user for as long as the server runs. It is looked up once for
   * headers that many requests share.
   */
  readonly fixedToken?: ((token: string) => AuthenticatedUser | undefined) | undefined
  /** All other tokens, for the audiences of the server. */
  readonly authenticateToken: (token: string) => MaybePromise<Attempt>
  /** `paths`: those that accept anonymous requests; none: all. */
  readonly anonymous: { readonly isEnabled: boolean; readonly paths: readonly string[] }
  readonly metrics: AuthenticationMetrics
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Log
}

export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { metrics } = options
  const { monotonicMs } = options.clock
  const identify = createIdentify(options)

  const succeed = (known: AuthenticatedUser, startMs: number): AuthenticatedUser => {
    metrics.succeed(known.user.name, monotonicMs() - startMs)
    return known
  }
  const refuse = (error: unknown, refusals: readonly string[], startMs: number): never => {
    // An error of another kind, such as one of etcd, is one of an authenticator.
    const isNobody =
      refusals.length === 0 && error instanceof ApiError && error.reason === 'Unauthorized'
    metrics.refuse(isNobody ? 'failure' : 'error', monotonicMs() - startMs)
    throw error
  }
  return (credentials, response, startMs) => {
    const refusals: string[] = []
    try {
      const result = identify(credentials, response, refusals)
      if (!(result instanceof Promise)) return succeed(result, startMs)
      return result.then(
        (known) => succeed(known, startMs),
        (error: unknown) => refuse(error, refusals, startMs),
      )
    } catch (error) {
      return refuse(error, refusals, startMs)
    }
  }
}

/** Pushes to `refusals` why credentials are invalid. Fails with Unauthorized. */
type Identify = (
  credentials: Credentials,
  response: { warn(text: string): void },
  refusals: string[],
) => MaybePromise<AuthenticatedUser>

type TokenResult = MaybePromise<AuthenticatedUser | undefined>

/** Tries the authenticators in upstream's order. */
function createIdentify(options: AuthenticateOptions): Identify {
  const { verifyProxy, verifyCertificate, fixedToken, authenticateToken, anonymous } = options
  const logRefusal = createBoundedLog(options.log, options.clock)
  const openPaths = new Set(anonymous.paths)
  const isOpen = (path: string): boolean =>
    anonymous.isEnabled && (openPaths.size === 0 || openPaths.has(path))

  const readToken = ofSharedHeaders((headers) => {
    const found = tokenInHeader(headers)
    return { found, fixed: found.kind === 'token' ? fixedToken?.(found.token) : undefined }
  })

  const byToken = (found: BearerTokenResult, refusals: string[]): TokenResult => {
    if (found.kind === 'bad') refusals.push('malformed bearer token')
    if (found.kind !== 'token') return undefined
    const result = authenticateToken(found.token)
    return result instanceof Promise
      ? result.then((later) => knownOf(later, refusals, invalidToken))
      : knownOf(result, refusals, invalidToken)
  }

  return ({ headers, path, peerCertificate }, response, refusals) => {
    const peer = peerCertificate()
    if (peer !== undefined) {
      const proxied = verifyProxy?.(headers, peer) ?? unknownCaller
      const known =
        knownOf(proxied, refusals) ?? knownOf(verifyCertificate?.(peer) ?? unknownCaller, refusals)
      if (known !== undefined) return known
    }
    const { found: inHeader, fixed } = readToken(headers)
    if (fixed !== undefined) return fixed
    const orNobody = (): AuthenticatedUser => {
      if (refusals.length > 0) {
        logRefusal('info', 'Unable to authenticate the request', () => ({
          error: joinReasons(refusals),
        }))
      }
      if (inHeader.kind === 'ignored') response.warn(inHeader.warning)
      if (refusals.length > 0 || !isOpen(path)) throw unauthorized()
      return nobody
    }
    const orInProtocols = (): MaybePromise<AuthenticatedUser> => {
      const found = tokenInProtocols(headers)
      return (
        (found.kind === 'token' && fixedToken?.(found.token)) ||
        orElse(byToken(found, refusals), orNobody)
      )
    }
    return orElse(byToken(inHeader, refusals), orInProtocols)
  }
}

const invalidToken = 'invalid bearer token'

/** `unknownIs`: the reason to refuse a credential that nobody knows; absent: it counts as none. */
function knownOf(
  attempt: Attempt,
  refusals: string[],
  unknownIs?: string,
): AuthenticatedUser | undefined {
  if (attempt.kind === 'known') return attempt
  if (attempt.kind === 'bad') refusals.push(attempt.why)
  else if (unknownIs !== undefined) refusals.push(unknownIs)
  return undefined
}

/** An inline check instead of `thenMaybe`: most requests need no closure here. */
const orElse = (
  result: TokenResult,
  other: () => MaybePromise<AuthenticatedUser>,
): MaybePromise<AuthenticatedUser> =>
  result instanceof Promise ? result.then((known) => known ?? other()) : (result ?? other())

const nobody: AuthenticatedUser = { user: anonymousUser }
