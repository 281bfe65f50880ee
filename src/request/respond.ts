/**
 * Completes the response of a request: headers and seats, and the end of its metrics, traces, log
 * lines and audit event.
 */
import type { ResourceInfo } from '../api/context.ts'
import { ApiError, RemoteUnavailable, TextError } from '../api/errors.ts'
import { followFrames, whenCaughtUp } from '../api/follow-frames.ts'
import { type ApiResponse, type InFlightSlot, SHORT_BODY_BYTES_MAX } from '../api/request.ts'
import { anonymousUser } from '../api/user.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { MaybePromise } from '../lib/concurrency/maybe-promise.ts'
import type { Audit } from './audit/audit.ts'
import type { Outcome } from './audit/audited-request.ts'
import { arrivalOf } from './filters/identify.ts'
import { endedRequest, reportedDryRun } from './filters/reported-request.ts'
import type { RequestMetrics } from './filters/request-metrics.ts'
import type { ResponseHeaders } from './filters/response-headers.ts'
import type { FlowControl } from './flow/flow-control.ts'
import type { RequestLifecycle } from './lifecycle.ts'
import type { SlowRequests } from './slow-requests.ts'
import type { Traces } from './tracing/tracing.ts'

export type RespondOptions = {
  readonly headers: ResponseHeaders
  readonly flowControl: FlowControl | undefined
  readonly metrics: RequestMetrics
  /** Whether there is such a resource, with such a subresource. */
  readonly isServed: (info: ResourceInfo) => boolean
  readonly audit: Audit | undefined
  readonly traces: Traces | undefined
  readonly slow: SlowRequests
  readonly clock: Clock
  readonly log: Log
  /** Whether each request is logged. */
  readonly logsRequests: () => boolean
}

/** `error`: why the request failed, if it did. */
type Respond = (
  life: RequestLifecycle,
  answered: ApiResponse,
  error: unknown,
) => MaybePromise<ApiResponse>

export const createRespond =
  (options: RespondOptions): Respond =>
  (life, answered, error) => {
    const { audit, clock, headers, flowControl } = options
    // Reading the clock costs as much as some stages, so it is read once for all that ends here.
    const nowMs = clock.monotonicMs()
    const counted = countWatch(life, life.measured?.answer(answered) ?? answered, flowControl)
    life.contextIfAny?.end()
    log(life, counted, nowMs, options)
    const response = {
      ...counted,
      headers: headers.of(life, counted),
      isUnauthenticated: isUnauthenticated(life),
      place: placeOf(life, counted, nowMs),
    }
    countRefusal(life, response, error, options)
    endSpan(life, response, options)
    if (audit === undefined) return response
    return endAudit(life, response, { audit, outcome: outcomeOf(response, error, nowMs) })
  }

function log(
  life: RequestLifecycle,
  { status }: ApiResponse,
  nowMs: number,
  { slow, log: write, logsRequests }: RespondOptions,
): void {
  const { request, startMs, info, isLongRunning, contextIfAny: context } = life
  const ms = nowMs - startMs
  if (logsRequests()) logRequest(life, status, ms, write)
  if (info !== undefined && !isLongRunning) slow.record({ request, context, status, ms }, nowMs)
}

function endSpan(
  { span, contextIfAny: context, startMs }: RequestLifecycle,
  response: ApiResponse,
  { traces }: RespondOptions,
): void {
  if (span !== undefined && context !== undefined) traces?.end(span, { context, startMs, response })
}

/** Most requests are neither refused nor terminated. */
function countRefusal(
  { request, info, measured }: RequestLifecycle,
  { status }: ApiResponse,
  error: unknown,
  { metrics, isServed }: RespondOptions,
): void {
  const isRefused = measured === undefined
  if (isRefused) metrics.refused(status)
  if (error instanceof RemoteUnavailable) return metrics.remoteUnavailable(request, info)
  const isLimited = isRefused && status === TOO_MANY_REQUESTS
  const lateCode = error instanceof ApiError && error.reason === 'Timeout' ? error.code : undefined
  if (!isLimited && lateCode === undefined) return
  const ended = endedRequest(request, info, isServed)
  if (lateCode === undefined) metrics.dropped(ended, reportedDryRun(request))
  else metrics.terminated(ended, lateCode)
}

const TOO_MANY_REQUESTS = 429

/**
 * A watch has its seats until it has sent what exists. Writes cost more for as long as the watch
 * lasts.
 */
function countWatch(
  { info, request, seat }: RequestLifecycle,
  response: ApiResponse,
  flowControl: FlowControl | undefined,
): ApiResponse {
  if (flowControl === undefined || info?.verb !== 'watch') return response
  if ('tunnel' in response) {
    const ended = flowControl.countWatch(info, request.query)
    const tunnel: typeof response.tunnel = (connection) => {
      if (connection.destroyed) ended?.()
      else connection.once('close', () => ended?.())
      response.tunnel(connection)
    }
    return { ...response, tunnel }
  }
  if (!('frames' in response)) return response
  const end = flowControl.countWatch(info, request.query)
  let isOpen = true
  const frames = followFrames(response.frames, () => {
    seat?.leave()
    if (isOpen) end?.()
    isOpen = false
  })
  return {
    ...response,
    frames: seat === undefined ? frames : whenCaughtUp(frames, () => seat.leave()),
  }
}

/** A long response keeps its seats until it is written; others leave theirs now. */
function placeOf(
  life: RequestLifecycle,
  response: ApiResponse,
  nowMs: number,
): InFlightSlot | undefined {
  const { seat, measured, isOwn, contextIfAny } = life
  life.seat = undefined
  if ('frames' in response && !isOwn && seat !== undefined) {
    // Seats of a watch are left when all that existed has been sent.
    measured?.end()
    return { leave: () => seat.leave(), stall: () => seat.stall?.() }
  }
  if (isOwn || !isLong(response)) {
    seat?.leave(nowMs)
    measured?.end()
    return undefined
  }
  const kept = seat?.keep(contextIfAny?.knownUser?.name ?? '')
  return {
    leave: () => {
      kept?.leave()
      measured?.end()
    },
    stall: () => kept?.stall?.(),
  }
}

/**
 * kube-apiserver's handler ends when it has written a short response, whether or not the client
 * reads it. A longer one, which may be a whole list in memory, counts as in flight for as long as
 * its client takes to read it.
 */
function isLong(response: ApiResponse): boolean {
  if (!('body' in response)) return false
  const { body } = response
  if (Buffer.isBuffer(body) || 'chunks' in body) return body.length > SHORT_BODY_BYTES_MAX
  return body.reduce((bytes, { length }) => bytes + length, 0) > SHORT_BODY_BYTES_MAX
}

/** A caller that impersonates the anonymous user is authenticated all the same. */
function isUnauthenticated({ contextIfAny }: RequestLifecycle): boolean {
  const caller = contextIfAny?.caller
  return caller === undefined || caller.name === anonymousUser.name
}

/** Logs neither the query nor any header: both may contain secrets. */
function logRequest(
  { request, auditId, contextIfAny }: RequestLifecycle,
  status: number,
  ms: number,
  write: Log,
): void {
  const { method, path, remoteAddress } = request
  const { knownUser, impersonator, decision } = contextIfAny ?? {}
  write('debug', 'request', {
    method,
    path,
    status,
    ms: Math.round(ms),
    user: knownUser?.name,
    impersonator: impersonator?.name,
    reason: decision?.reason || undefined,
    from: remoteAddress,
    auditId,
  })
}

/** Returns the response, which waits for its event in the blocking modes. */
function endAudit(
  life: RequestLifecycle,
  response: ApiResponse,
  { audit, outcome }: { readonly audit: Audit; readonly outcome: Outcome },
): MaybePromise<ApiResponse> {
  const { audited, info, contextIfAny } = life
  if (audited !== undefined) return audited.answered(response, outcome)
  // A request that the policy leaves out is not recorded, nor is one whose path cannot be parsed.
  if (contextIfAny?.caller !== undefined || info === undefined) return response
  const begun = audit.begin(arrivalOf(life, info, outcome.nowMs), undefined)
  return begun?.refused(response, outcome) ?? response
}

function outcomeOf(response: ApiResponse, error: unknown, nowMs: number): Outcome {
  const isForeseen = error === undefined || error instanceof ApiError || error instanceof TextError
  const status = isForeseen && 'shownStatus' in response ? response.shownStatus : undefined
  return { status, panic: isForeseen ? undefined : error, nowMs }
}
