/** Stages of a request that identify its user, and start its span and its audit event. */
import type { Authenticate } from '../../access/authentication/authenticate.ts'
import type { AuthenticatedUser } from '../../access/authentication/attempt.ts'
import type { RequestInfo } from '../../api/context.ts'
import { ofSharedHeaders } from '../../api/shared-headers.ts'
import type { User } from '../../api/user.ts'
import { thenMaybe } from '../../lib/concurrency/maybe-promise.ts'
import type { Audit } from '../audit/audit.ts'
import type { ReceivedRequest } from '../audit/audited-request.ts'
import type { RequestLifecycle, Stage } from '../lifecycle.ts'
import type { Traces } from '../tracing/tracing.ts'
import { asksToImpersonate, impersonate, type ImpersonateOptions } from './impersonate.ts'

type MonotonicMs = () => number

/**
 * Authenticates the request. If the server itself sends the request, the request carries a user
 * instead of credentials.
 */
export function authenticateRequest(authenticate: Authenticate, monotonicMs: MonotonicMs): Stage {
  const identify = (
    life: RequestLifecycle,
    { user, warnings, annotations }: AuthenticatedUser,
  ): void => {
    const { context } = life
    context.identify(user)
    life.warnings = warnings
    life.nowMs = monotonicMs()
    context.spent.authenticationMs = life.nowMs - life.startMs
    if (annotations === undefined) return
    for (const key in annotations) context.annotate(key, annotations[key] ?? '')
  }
  return (life) => {
    const { request, context, startMs, ownUser } = life
    if (ownUser !== undefined) return identify(life, { user: ownUser })
    return thenMaybe(authenticate(request, context, startMs), (found) => identify(life, found))
  }
}

/** Begins the span of the request, if it is traced. */
export const beginSpan =
  (traces: Traces | undefined): Stage =>
  (life) => {
    if (traces === undefined) return
    const { context, request, startMs } = life
    const { info, caller } = context
    if (caller === undefined) return
    life.span = traces.begin({ request, info, caller, startMs })
    context.span = life.span
  }

/**
 * Records that the request was received. In a blocking mode, the request waits until the event is
 * stored.
 */
export const beginAudit = (audit: Audit | undefined, monotonicMs: MonotonicMs): Stage =>
  audit === undefined
    ? () => undefined
    : (life) => {
        const { context } = life
        life.audited = audit.begin(arrivalOf(life, context.info, life.nowMs), context.caller)
        context.audited = life.audited
        const recording = life.audited?.received(context)
        return recording?.then(() => {
          const nowMs = monotonicMs()
          context.spent.auditMs = nowMs - life.nowMs
          life.nowMs = nowMs
        })
      }

/** Returns the part of an audit event that is known when the request arrives. */
export const arrivalOf = (
  { request, auditId, startMs, isLongRunning }: RequestLifecycle,
  info: RequestInfo,
  nowMs: number,
): ReceivedRequest => ({ request, info, auditId, startMs, nowMs, isLongRunning })

type ImpersonationOptions = Omit<ImpersonateOptions, 'waiting'> & {
  readonly monotonicMs: MonotonicMs
}

/**
 * Executes the request as the user in the impersonation headers, if the caller is allowed to
 * impersonate that user.
 */
export function impersonateUser({ authorize, release, monotonicMs }: ImpersonationOptions): Stage {
  const isAsked = ofSharedHeaders(asksToImpersonate)
  return (life) => {
    const { request, context } = life
    if (!isAsked(request.headers)) return actAs(life, context.user)
    return impersonate(request, context.user, { authorize, release, waiting: context }).then(
      (user) => {
        const nowMs = monotonicMs()
        context.spent.impersonationMs = nowMs - life.nowMs
        life.nowMs = nowMs
        actAs(life, user)
      },
    )
  }
}

function actAs({ context, warnings }: RequestLifecycle, user: User): void {
  context.actAs(user)
  for (const warning of warnings ?? []) context.warn(warning)
}
