/** Two stages: authorization, and finding the handler for the request. */
import type { Authorize } from '../../access/authorization/authorizer.ts'
import type { AuthorizationMetrics } from '../../access/authorization/metrics.ts'
import { refusal } from '../../access/authorization/refusal.ts'
import type { AccessAttributes, AccessDecision } from '../../api/access.ts'
import { pageNotFound, requestTimedOut, undecided } from '../../api/errors.ts'
import { assert } from '../../lib/errors.ts'
import type { User } from '../../api/user.ts'
import { thenMaybe } from '../../lib/concurrency/maybe-promise.ts'
import type { Registry } from '../../registry/registry.ts'
import type { RequestLifecycle, Stage } from '../lifecycle.ts'
import type { RoutedRequest } from '../routed-request.ts'
import type { RequestMetrics } from './request-metrics.ts'
import { resolve } from './resolve.ts'

export type AuthorizeOptions = {
  readonly authorize: Authorize
  /**
   * Returns commands that grant the permission for a rejected request, if the caller is allowed to
   * see them.
   */
  readonly hintsFor: (caller: User, question: RejectedAccess) => readonly string[]
  readonly monotonicMs: () => number
  readonly metrics: RequestMetrics
  readonly authorizationMetrics: AuthorizationMetrics
}

export type RejectedAccess = { readonly user: User; readonly attributes: AccessAttributes }

export function authorizeRequest({
  authorize,
  hintsFor,
  monotonicMs,
  metrics,
  authorizationMetrics,
}: AuthorizeOptions): Stage {
  const check = (life: RequestLifecycle, decision: AccessDecision, sinceMs: number): void => {
    const { context, request } = life
    const { verdict, reason, error } = decision
    context.decision = decision
    life.nowMs = monotonicMs()
    context.spent.authorizationMs = life.nowMs - sinceMs
    authorizationMetrics.decided(decision, context.spent.authorizationMs)
    metrics.filtered(context.spent)
    // The deadline may have passed although its timer has not fired yet. Without this check, a
    // response from memory could be sent after the deadline.
    if (context.hasEndedAt(life.nowMs)) throw requestTimedOut()
    if (verdict === 'allow') return
    if (verdict === 'no-opinion' && context.caller !== undefined) {
      const rejected = { user: context.user, attributes: context.info }
      for (const hint of hintsFor(context.caller, rejected)) context.warnOfOwn(hint)
    }
    throw error === undefined
      ? refusal(context.user, context.info, reason)
      : undecided(request, error)
  }
  return (life) => {
    const { context } = life
    const sinceMs = monotonicMs()
    return thenMaybe(authorize(context.user, context.info, context), (decision) =>
      check(life, decision, sinceMs),
    )
  }
}

export type RouteOptions = {
  readonly registry: Registry
  /** Finds the aggregated API server for a path, if there is one. */
  readonly apiServices: { readonly remoteAt: (path: string) => unknown }
}

/** Finds the handler for the request. Fails if the resource does not exist. */
export const route =
  (options: RouteOptions): Stage =>
  (life) => {
    life.routed = routedRequest(life, options)
  }

function routedRequest(
  { request, context }: RequestLifecycle,
  { registry, apiServices }: RouteOptions,
): RoutedRequest {
  const { info, user } = context
  assert(context.decision?.verdict === 'allow', 'only authorized requests are routed')
  if (apiServices.remoteAt(request.path) !== undefined)
    return { kind: 'remote', http: request, context }
  if (info.kind === 'path') return { kind: 'path', http: request, context }
  // Paths that begin with `//`, and groups without a name, are authorized like other paths.
  // However, kube-apiserver's router does not serve them.
  if (request.path.startsWith('//') || request.path.startsWith('/apis//')) throw pageNotFound()
  const { fault, resource, verb, namespace, name, subresource, view } = resolve(
    info,
    request.method,
    registry,
  )
  const { deprecation } = resource.discovery
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
    view,
    user,
    context,
    http: request,
  }
}
