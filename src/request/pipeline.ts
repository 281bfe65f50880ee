/**
 * The handler chain: the ordered list of stages through which every request passes, like
 * kube-apiserver's filters. An error in a stage is converted to a response, which is a Status or a
 * line of text.
 */
import type { Authenticate } from '../access/authentication/authenticate.ts'
import type { Authorize } from '../access/authorization/authorizer.ts'
import type { AuthorizationMetrics } from '../access/authorization/metrics.ts'
import {
  type ApiRequest,
  type ApiResponse,
  firstHeader,
  type Handler,
  type Headers,
} from '../api/request.ts'
import type { Clock } from '../lib/time/clock.ts'
import { assert } from '../lib/errors.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { MaybePromise } from '../lib/concurrency/maybe-promise.ts'
import { errorResponse } from './error-response.ts'
import type { Cors } from './filters/cors.ts'
import { authenticateRequest, beginAudit, beginSpan, impersonateUser } from './filters/identify.ts'
import { type LimitOptions, limitRequests } from './filters/limit.ts'
import { refuseLongValues } from './filters/long-values.ts'
import {
  allowOrigins,
  receive,
  type ReceiveOptions,
  refuseWhileLeaving,
  type ServerPhase,
} from './filters/receive.ts'
import { ResponseHeaders } from './filters/response-headers.ts'
import {
  type AuthorizeOptions,
  authorizeRequest,
  route,
  type RouteOptions,
} from './filters/route.ts'
import { RequestLifecycle, type Stage } from './lifecycle.ts'
import { createRespond, type RespondOptions } from './respond.ts'
import { serve, type ServeOptions } from './serve.ts'

export type PipelineOptions = {
  /** Minor version of the release that the server implements. */
  readonly release: number
  readonly clock: Clock
  readonly log: Log
  readonly newAuditId: () => string
  readonly server: ServerPhase
  /**
   * Handles requests of browsers for pages from other origins. Undefined if no other origins are
   * allowed.
   */
  readonly cors: Cors | undefined
  /** Headers of every response, except for rejections during shutdown. */
  readonly constantHeaders: Headers
  readonly context: Omit<ReceiveOptions, 'monotonicMs'>
  readonly authenticate: Authenticate
  readonly authorize: Authorize
  readonly hintsFor: AuthorizeOptions['hintsFor']
  readonly authorizationMetrics: AuthorizationMetrics
  readonly limits: Omit<LimitOptions, 'monotonicMs'>
  readonly routing: RouteOptions
  readonly serving: Pick<ServeOptions, 'dispatch' | 'documents' | 'proxy'>
  /** Metrics, logs, traces and the audit log. */
  readonly observers: Pick<
    RespondOptions,
    'audit' | 'isServed' | 'metrics' | 'slow' | 'traces' | 'verbosity'
  >
}

export function createPipeline(options: PipelineOptions): Handler {
  const { clock, log, authorize, observers, limits } = options
  const { monotonicMs } = clock
  const headers = new ResponseHeaders(options.constantHeaders)
  // A stage that rejects requests of authenticated users must come after `beginAudit`, because
  // requests that are rejected earlier are not audited.
  const stages: readonly Stage[] = [
    refuseWhileLeaving(options.server),
    allowOrigins(options.cors, headers.withoutFlow),
    receive({ ...options.context, monotonicMs }),
    authenticateRequest(options.authenticate, monotonicMs),
    beginSpan(observers.traces),
    beginAudit(observers.audit, monotonicMs),
    refuseLongValues,
    impersonateUser({ authorize, release: options.release, monotonicMs }),
    limitRequests({ ...limits, monotonicMs }),
    authorizeRequest({
      authorize,
      hintsFor: options.hintsFor,
      metrics: observers.metrics,
      authorizationMetrics: options.authorizationMetrics,
      monotonicMs,
    }),
    route(options.routing),
    serve({
      ...options.serving,
      metrics: observers.metrics,
      traces: observers.traces,
      monotonicMs,
    }),
  ]
  const respond = createRespond({
    ...observers,
    flowControl: limits.flowControl,
    headers,
    clock,
    log,
  })
  return async (request, ownUser) => {
    const auditId = givenAuditId(request) || options.newAuditId()
    const life = new RequestLifecycle({ request, auditId, startMs: monotonicMs(), ownUser })
    let response: MaybePromise<ApiResponse>
    try {
      await run(stages, life)
      if (life.earlyResponse !== undefined) return life.earlyResponse
      assert(life.response !== undefined, 'the last stage has served the request')
      response = respond(life, life.response, undefined)
    } catch (error) {
      const isRefusal = life.measured === undefined
      response = respond(life, errorResponse(error, auditId, { request, log, isRefusal }), error)
    }
    // Returning the promise would take two more microtasks than awaiting it.
    return response instanceof Promise ? await response : response
  }
}

/**
 * Runs the stages in order. Returns a promise only if a stage returns one, because awaiting a plain
 * value takes longer than most stages.
 */
function run(
  stages: readonly Stage[],
  life: RequestLifecycle,
  from = 0,
): Promise<void> | undefined {
  for (let at = from; at < stages.length && life.earlyResponse === undefined; at++) {
    const waiting = stages[at]?.(life)
    if (!(waiting instanceof Promise)) continue
    const next = at + 1
    return next === stages.length ? waiting : waiting.then(() => run(stages, life, next))
  }
  return undefined
}

/**
 * Returns the audit ID that the client sent, or an empty string. If the header is repeated, Node
 * joins its values with a comma and a space, and only the first value is used.
 */
const givenAuditId = ({ headers }: ApiRequest): string =>
  firstHeader(headers, 'audit-id')?.split(', ', 1)[0] ?? ''
