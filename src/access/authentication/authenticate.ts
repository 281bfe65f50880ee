/**
 * Authenticates requests. The authenticators run in the same order as in kube-apiserver, and the
 * first one that recognizes the caller determines the user. If no authenticator recognizes the
 * caller, a request with an invalid credential is rejected, and any other request can be anonymous.
 * The response says only that the request is unauthorized; the reasons are logged.
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

/** The path of a request, and the parts that can contain credentials. */
export type Credentials = {
  readonly headers: IncomingHttpHeaders
  readonly path: string
  readonly peerCertificate: () => PeerCertificate | undefined
}

/**
 * Authenticates a request, or fails with Unauthorized. Returns a promise only if it has to wait,
 * for example to read an object that a token is bound to.
 *
 * `response` collects warnings for the client, which are sent even if the request is rejected.
 * `startMs` is the time on the monotonic clock from which the duration of the authentication is
 * measured.
 */
export type Authenticate = (
  credentials: Credentials,
  response: { warn(text: string): void },
  startMs: number,
) => MaybePromise<AuthenticatedUser>

export type AuthenticateOptions = {
  /** Verifies front proxies. Absent if no front proxies are configured. */
  readonly verifyProxy?: VerifyProxy | undefined
  /** Verifies client certificates. Absent if client certificates are ignored. */
  readonly verifyCertificate?: VerifyCertificate | undefined
  /**
   * Returns the user of a static token, or undefined for any other token. Static tokens do not
   * change while the server runs. Requests of a connection can share one headers object, so the
   * result is cached for each shared object.
   */
  readonly fixedToken?: ((token: string) => AuthenticatedUser | undefined) | undefined
  /** Authenticates all other tokens, for the audiences of the server. */
  readonly authenticateToken: (token: string) => MaybePromise<Attempt>
  /**
   * Settings for anonymous requests. `paths` lists the paths that accept them; an empty list means
   * all paths.
   */
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
    // If a request has no credentials and may not be anonymous, the metrics count it as `failure`.
    // An invalid credential, or an error such as a failed etcd request, counts as `error`.
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

/**
 * Finds the user of a request, or fails with Unauthorized. If a credential is invalid, adds the
 * reason to `refusals`.
 */
type Identify = (
  credentials: Credentials,
  response: { warn(text: string): void },
  refusals: string[],
) => MaybePromise<AuthenticatedUser>

type TokenResult = MaybePromise<AuthenticatedUser | undefined>

/**
 * Creates a function that finds the user of a request. It tries the authenticators in the same
 * order as kube-apiserver.
 */
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

/**
 * Returns the user if an authenticator recognized the credential. If the credential is invalid,
 * records the reason. If the authenticator does not recognize the credential, records `unknownIs`,
 * or nothing if `unknownIs` is undefined.
 */
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

/**
 * Returns the user of `result`. If `result` has no user, calls `other`. Allocates no callback
 * unless `result` is a promise, because this function runs for every request.
 */
const orElse = (
  result: TokenResult,
  other: () => MaybePromise<AuthenticatedUser>,
): MaybePromise<AuthenticatedUser> =>
  result instanceof Promise ? result.then((known) => known ?? other()) : (result ?? other())

const nobody: AuthenticatedUser = { user: anonymousUser }
