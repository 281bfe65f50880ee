/**
 * Completes a response: sets its headers, releases the seats of the request, and completes its
 * metrics, trace, log lines and audit event.
 */
import type { ResourceInfo } from '../api/context.ts'
import { ApiError, RemoteUnavailable, TextError } from '../api/errors.ts'
import { followFrames, whenCaughtUp } from '../api/follow-frames.ts'
import { type ApiResponse, type InFlightSlot, SHORT_BODY_BYTES_MAX } from '../api/request.ts'
import { anonymousUser } from '../api/user.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { DETAILS, type Verbosity } from '../lib/telemetry/verbosity.ts'
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
  /** Whether the resource and its subresource exist. */
  readonly isServed: (info: ResourceInfo) => boolean
  readonly audit: Audit | undefined
  readonly traces: Traces | undefined
  readonly slow: SlowRequests
  readonly clock: Clock
  readonly log: Log
  readonly verbosity: Verbosity
}

/** Completes a response. `error` is the reason if the request failed. */
type Respond = (
  life: RequestLifecycle,
  answered: ApiResponse,
  error: unknown,
) => MaybePromise<ApiResponse>

export const createRespond =
  (options: RespondOptions): Respond =>
  (life, answered, error) => {
    const { audit, clock, headers, flowControl } = options
    // Read the clock only once for everything that ends here, because reading it takes as long as
    // some stages.
    const nowMs = clock.monotonicMs()
    const counted = countWatch(life, life.measured?.answer(answered) ?? answered, flowControl)
    life.contextIfAny?.end()
    const place = placeOf(life, counted, nowMs)
    countRefusal(life, counted, error, options)
    log(life, counted, nowMs, options)
    const response = {
      ...counted,
      headers: headers.of(life, counted),
      isUnauthenticated: isUnauthenticated(life),
      place,
    }
    if (life.span !== undefined) endSpan(life, response, options)
    if (audit === undefined) return response
    return endAudit(life, response, { audit, outcome: outcomeOf(response, error, nowMs) })
  }

function log(
  life: RequestLifecycle,
  { status }: ApiResponse,
  nowMs: number,
  { slow, log: write, verbosity }: RespondOptions,
): void {
  const { request, startMs, info, isLongRunning, contextIfAny: context } = life
  const ms = nowMs - startMs
  if (verbosity.isOn(DETAILS, 'handle')) logRequest(life, status, ms, write)
  if (info !== undefined && !isLongRunning) slow.record({ request, context, status, ms }, nowMs)
}

function endSpan(
  { span, contextIfAny: context, startMs }: RequestLifecycle,
  response: ApiResponse,
  { traces }: RespondOptions,
): void {
  if (span !== undefined && context !== undefined) traces?.end(span, { context, startMs, response })
}

/** Counts a request that was rejected or terminated. Most requests are neither. */
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
 * Counts an open watch, because writes that notify many watches need more seats. Releases the seats
 * of the watch after it has sent the existing objects.
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

/**
 * Returns what must be released when a watch or a long response has been sent. For any other
 * request, releases its seats immediately and returns undefined.
 */
function placeOf(
  life: RequestLifecycle,
  response: ApiResponse,
  nowMs: number,
): InFlightSlot | undefined {
  const { seat, measured, isOwn, contextIfAny } = life
  life.seat = undefined
  if ('frames' in response && !isOwn && seat !== undefined) {
    // The seats of a watch are released when it has sent all existing objects.
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
 * Whether a response counts as in flight until its client has read it. In kube-apiserver, the
 * handler of a short response ends as soon as the response is written, even if the client does not
 * read it. A longer response can retain a whole list in memory.
 */
function isLong(response: ApiResponse): boolean {
  if (!('body' in response)) return false
  const { body } = response
  if (Buffer.isBuffer(body) || 'chunks' in body) return body.length > SHORT_BODY_BYTES_MAX
  return body.reduce((bytes, { length }) => bytes + length, 0) > SHORT_BODY_BYTES_MAX
}

/**
 * Whether the caller is unauthenticated. A caller that impersonates the anonymous user is still
 * authenticated.
 */
function isUnauthenticated({ contextIfAny }: RequestLifecycle): boolean {
  const caller = contextIfAny?.caller
  return caller === undefined || caller.name === anonymousUser.name
}

/** Logs a request without its query and headers, which can contain secrets. */
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

/**
 * Ends the audit event and returns the response. In the blocking modes, waits until the event is
 * stored.
 */
function endAudit(
  life: RequestLifecycle,
  response: ApiResponse,
  { audit, outcome }: { readonly audit: Audit; readonly outcome: Outcome },
): MaybePromise<ApiResponse> {
  const { audited, info, contextIfAny } = life
  if (audited !== undefined) return audited.answered(response, outcome)
  // If the request was authenticated and has no audit event, the audit policy has excluded the
  // request. A request whose path cannot be parsed is also not audited.
  if (contextIfAny?.caller !== undefined || info === undefined) return response
  const begun = audit.begin(arrivalOf(life, info, outcome.nowMs), undefined)
  return begun?.refused(response, outcome) ?? response
}

function outcomeOf(response: ApiResponse, error: unknown, nowMs: number): Outcome {
  const isForeseen = error === undefined || error instanceof ApiError || error instanceof TextError
  const status = isForeseen && 'shownStatus' in response ? response.shownStatus : undefined
  return { status, panic: isForeseen ? undefined : error, nowMs }
}
