/** The first stages of each request: its RequestInfo, authentication, authorization, and the lookup of its resource. */
import type { AccessDecision } from '../api/access.ts'
import { RequestContext, type RequestInfo } from '../api/context.ts'
import { badRequest, pageNotFound, requestTimedOut, undecided } from '../api/errors.ts'
import type { ApiRequest } from '../api/request.ts'
import type { User } from '../api/user.ts'
import type { Clock } from '../lib/clock.ts'
import { parseDuration } from '../lib/duration.ts'
import type { Registry } from '../registry/registry.ts'
import type { ResourceRequest } from '../registry/resource.ts'
import type { Authenticated } from '../authentication/attempt.ts'
import type { Authenticate } from '../authentication/authenticate.ts'
import type { Authorize } from '../authorization/authorizer.ts'
import { refusal } from '../authorization/refusal.ts'
import { asksToImpersonate, impersonate } from './impersonate.ts'
import { isLongRunning } from './in-flight.ts'
import { resolve } from './resolve.ts'

export type Passed =
  | { readonly kind: 'path'; readonly http: ApiRequest; readonly context: RequestContext }
  | ({ readonly kind: 'resource' } & ResourceRequest)

export type GateParts = {
  readonly authenticate: Authenticate
  readonly authorize: Authorize
  readonly registry: Registry
  readonly clock: Clock
  /** The request timeout, which does not apply to watches. */
  readonly requestTimeoutMs: number
  /** A request was decided on, in this time. */
  readonly onDecided: (decision: AccessDecision, ms: number) => void
}

/** A request before authentication. */
export type Arrival = {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly auditId: string
  /** The user of the server's own requests, which have no credentials. */
  readonly knownUser?: User
}

/** Callbacks for the stages of a request. */
export type Follower = {
  /** As soon as the context exists: a request that is refused before authentication has one, too. */
  readonly onContext: (context: RequestContext) => void
  /** Between authentication and impersonation; a request waits for the promise, which may refuse it. Undefined: nothing is audited. */
  readonly onAuthenticated: ((context: RequestContext) => Promise<void> | undefined) | undefined
  /** Between impersonation and authorization. May refuse the request: the limits of requests in flight apply here. */
  readonly onIdentified: (user: User) => void
}

export type Gate = (arrival: Arrival, follower: Follower) => Promise<Passed>

export function createGate(parts: GateParts): Gate {
  const { authenticate, authorize, registry, clock, onDecided } = parts
  return async ({ request, info, auditId, knownUser }, { onContext, onAuthenticated, onIdentified }) => {
    const timeoutMs = timeoutOf(request.query, info, parts.requestTimeoutMs)
    const context = new RequestContext({
      auditId,
      info,
      timeoutMs,
      clientSignal: () => request.signal,
      monotonicMs: clock.monotonicMs,
    })
    onContext(context)
    const who: Authenticated | Promise<Authenticated> =
      knownUser === undefined ? authenticate(request, context) : { user: knownUser }
    const { user: caller, warnings, annotations } = who instanceof Promise ? await who : who
    context.identify(caller)
    if (annotations !== undefined) for (const key in annotations) context.annotate(key, annotations[key] ?? '')
    const recorded = onAuthenticated?.(context)
    if (recorded !== undefined) await recorded
    const user = asksToImpersonate(request.headers) ? await impersonate(request, caller, authorize, context) : caller
    context.actAs(user)
    for (const warning of warnings ?? []) context.warn(warning)
    onIdentified(user)
    const startMs = clock.monotonicMs()
    const deciding = authorize(user, info, context)
    const decision = deciding instanceof Promise ? await deciding : deciding
    context.decision = decision
    context.authorizationMs = clock.monotonicMs() - startMs
    onDecided(decision, context.authorizationMs)
    // An answer from memory would be faster than a timer that is due already.
    if (context.hasEnded) throw requestTimedOut()
    if (decision.verdict !== 'allow') {
      throw decision.error === undefined ? refusal(user, info, decision.reason) : undecided(request, decision.error)
    }
    if (info.kind === 'path') return { kind: 'path', http: request, context }
    // Such a path is authorized like any other, but upstream's router serves none that begins with `//`.
    if (request.path.startsWith('//')) throw pageNotFound()
    const { fault, ...resolved } = resolve(info, request.method, registry)
    const { deprecation } = resolved.resource
    if (deprecation !== undefined) {
      context.warn(deprecation)
      context.deprecatedUntil = resolved.resource.isCustom
        ? ''
        : (/unavailable in v([\d.]+)\+/.exec(deprecation)?.[1] ?? '')
    }
    if (fault !== undefined) throw fault
    return { kind: 'resource', ...resolved, user, context, http: request }
  }
}

/** Any request may have a `timeout`, a Go duration; the server's own timeout is the maximum. */
function timeoutOf(query: URLSearchParams, info: RequestInfo, maxMs: number): number {
  if (isLongRunning(info)) return Infinity
  const text = query.get('timeout') ?? ''
  if (text === '') return maxMs
  const asked = parseDuration(text)
  if ('fault' in asked) throw badRequest(`invalid timeout specified in the request URL - ${asked.fault}`)
  return asked.ms > 0 ? Math.min(asked.ms, maxMs) : maxMs
}
