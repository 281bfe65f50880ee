/** The first stages of each request: its RequestInfo, authentication, authorization, and the lookup of its resource. */
import type { AccessDecision } from '../../api/access.ts'
import { RequestContext, type RequestInfo } from '../../api/context.ts'
import { badRequest, pageNotFound, requestTimedOut, undecided } from '../../api/errors.ts'
import type { ApiRequest } from '../../api/request.ts'
import { ofSharedHeaders } from '../../api/shared-headers.ts'
import type { Spent } from '../../api/spent.ts'
import type { User } from '../../api/user.ts'
import type { Clock } from '../../lib/clock.ts'
import { parseDuration } from '../../lib/duration.ts'
import { goOn } from '../../lib/go-on.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ResourceRequest } from '../../registry/resource.ts'
import type { Authenticated } from '../../access/authentication/attempt.ts'
import type { Authenticate } from '../../access/authentication/authenticate.ts'
import type { Authorize } from '../../access/authorization/authorizer.ts'
import { refusal } from '../../access/authorization/refusal.ts'
import { asksToImpersonate, impersonate } from './impersonate.ts'
import { isLongRunning } from './in-flight.ts'
import { resolve } from './resolve.ts'

export type Passed =
  | { readonly kind: 'path'; readonly http: ApiRequest; readonly context: RequestContext }
  /** For an aggregated API server. */
  | { readonly kind: 'remote'; readonly http: ApiRequest; readonly context: RequestContext }
  | ({ readonly kind: 'resource' } & ResourceRequest)

export type GateParts = {
  readonly authenticate: Authenticate
  readonly authorize: Authorize
  readonly registry: Registry
  /** Whether an aggregated API server has what is at this path. */
  readonly isRemote: (path: string) => boolean
  readonly clock: Clock
  /** The request timeout, which does not apply to watches. */
  readonly requestTimeoutMs: number
  /** A request was decided on; what it has passed until then took this time. */
  readonly onDecided: (decision: AccessDecision, spent: Spent) => void
}

/** A request before authentication. */
export type Arrival = {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly auditId: string
  /** When it came, on the monotonic clock. */
  readonly startMs: number
  /** The user of the server's own requests, which have no credentials. */
  readonly knownUser: User | undefined
}

/** Callbacks for the stages of a request. */
export interface Follower {
  /** As soon as the context exists: a request that is refused before authentication has one, too. */
  onContext(context: RequestContext): void
  /** Between authentication and impersonation; a request waits for the promise, which may refuse it. */
  onAuthenticated(context: RequestContext): Promise<void> | undefined
  /**
   * Between impersonation and authorization: where requests wait for their seats, which the promise is for, or are refused. `nowMs`: on the monotonic clock, which
   * was read just now.
   */
  onIdentified(user: User, context: RequestContext, nowMs: number): Promise<void> | undefined
}

/** Throws, or rejects, where the request is refused. A promise only if something has to be awaited. */
export type Gate = (arrival: Arrival, follower: Follower) => Passed | Promise<Passed>

export function createGate(parts: GateParts): Gate {
  const { authenticate, authorize, clock } = parts
  const impersonates = ofSharedHeaders(asksToImpersonate)

  const authorized = (
    arrival: Arrival,
    context: RequestContext,
    user: User,
  ): Passed | Promise<Passed> => {
    const startMs = clock.monotonicMs()
    return goOn(authorize(user, arrival.info, context), (decision) => {
      context.decision = decision
      const nowMs = clock.monotonicMs()
      context.spent.authorizationMs = nowMs - startMs
      parts.onDecided(decision, context.spent)
      // An answer from memory would be faster than a timer that is due already.
      if (context.hasEndedAt(nowMs)) throw requestTimedOut()
      return passed(arrival, context, decision, parts)
    })
  }

  return (arrival, follower) => {
    const { request, info, auditId, startMs, knownUser } = arrival
    const timeoutMs = timeoutOf(request.query, info, parts.requestTimeoutMs)
    const context = new RequestContext({
      auditId,
      info,
      timeoutMs,
      startMs,
      client: request,
      monotonicMs: clock.monotonicMs,
    })
    follower.onContext(context)
    const who: Authenticated | Promise<Authenticated> =
      knownUser === undefined ? authenticate(request, context, startMs) : { user: knownUser }
    return goOn(who, ({ user: caller, warnings, annotations }) => {
      context.identify(caller)
      const { spent } = context
      const knownMs = clock.monotonicMs()
      spent.authenticationMs = knownMs - startMs
      if (annotations !== undefined)
        for (const key in annotations) context.annotate(key, annotations[key] ?? '')
      const recording = follower.onAuthenticated(context)
      return goOn(recording, () => {
        const recordedMs = recording === undefined ? knownMs : clock.monotonicMs()
        spent.auditMs = recordedMs - knownMs
        const acting = impersonates(request.headers)
          ? impersonate(request, caller, authorize, context)
          : caller
        return goOn(acting, (user) => {
          const identifiedMs = acting === caller ? recordedMs : clock.monotonicMs()
          spent.impersonationMs = identifiedMs - recordedMs
          context.actAs(user)
          for (const warning of warnings ?? []) context.warn(warning)
          return goOn(follower.onIdentified(user, context, identifiedMs), () =>
            authorized(arrival, context, user),
          )
        })
      })
    })
  }
}

/** The request, if it is allowed and there is such a resource. */
function passed(
  { request, info }: Arrival,
  context: RequestContext,
  { verdict, reason, error }: AccessDecision,
  { registry, isRemote }: GateParts,
): Passed {
  const { user } = context
  if (verdict !== 'allow')
    throw error === undefined ? refusal(user, info, reason) : undecided(request, error)
  if (isRemote(request.path)) return { kind: 'remote', http: request, context }
  if (info.kind === 'path') return { kind: 'path', http: request, context }
  // Such a path is authorized like any other, but kube-apiserver's router serves no path that begins with `//`, and no group without a name.
  if (request.path.startsWith('//') || request.path.startsWith('/apis//')) throw pageNotFound()
  const { fault, resource, verb, namespace, name, subresource } = resolve(
    info,
    request.method,
    registry,
  )
  const { deprecation } = resource
  if (deprecation !== undefined) {
    context.warn(deprecation)
    context.deprecatedUntil = resource.isCustom
      ? ''
      : (/unavailable in v([\d.]+)\+/.exec(deprecation)?.[1] ?? '')
  }
  if (fault !== undefined) throw fault
  return {
    kind: 'resource',
    resource,
    verb,
    namespace,
    name,
    subresource,
    user,
    context,
    http: request,
  }
}

/** Any request may have a `timeout`, a Go duration; the server's own timeout is the maximum. */
function timeoutOf(query: URLSearchParams, info: RequestInfo, maxMs: number): number {
  if (isLongRunning(info)) return Infinity
  const text = query.get('timeout') ?? ''
  if (text === '') return maxMs
  const asked = parseDuration(text)
  if ('fault' in asked)
    throw badRequest(`invalid timeout specified in the request URL - ${asked.fault}`)
  return asked.ms > 0 ? Math.min(asked.ms, maxMs) : maxMs
}
