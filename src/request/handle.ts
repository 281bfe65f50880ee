/** The life of a request, on one page: gate, then a verb or a document, then an answer. Any error becomes a Status. */
import type { RequestContext, RequestInfo, ResourceInfo } from '../api/context.ts'
import { ApiError, RemoteUnavailable, requestTimedOut, TextError } from '../api/errors.ts'
import {
  type ApiRequest,
  type ApiResponse,
  firstHeader,
  type Headers,
  type InFlightPlace,
} from '../api/request.ts'
import type { Span } from '../api/span.ts'
import { anonymousUser, mastersGroup, type User } from '../api/user.ts'
import { followFrames, whenCaughtUp } from '../api/follow-frames.ts'
import type { Proxy } from './aggregation/proxy.ts'
import type { Audit } from './audit/audit.ts'
import type { Arrived, AuditedRequest, Outcome } from './audit/audited-request.ts'
import type { Documents } from './discovery/documents.ts'
import type { Dispatch } from './dispatch.ts'
import { errorResponse, textResponse } from './error-response.ts'
import type { Flow, FlowControl } from './flow/flow-control.ts'
import type { Cors } from './filters/cors.ts'
import type { Follower, Gate, Passed } from './filters/gate.ts'
import { type InFlight, isLongRunning, type RequestPlace } from './filters/in-flight.ts'
import { refusalOf } from './filters/leaving.ts'
import { endedRequest, reportedDryRun } from './filters/reported-request.ts'
import { requestInfo } from './filters/request-info.ts'
import type { Measured, RequestMetrics } from './filters/request-metrics.ts'
import { warningHeaders } from './filters/warnings.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { ownInTime } from '../lib/timers.ts'
import type { SlowRequests } from './slow-requests.ts'
import type { Traces } from './tracing/tracing.ts'

export type HandlerParts = {
  readonly gate: Gate
  /** Undefined: requests are limited by their number alone. */
  readonly flowControl: FlowControl | undefined
  readonly inFlight: InFlight
  readonly dispatch: Dispatch
  readonly documents: Documents
  /** Passes a request on to the aggregated API server that has what is at its path. */
  readonly proxy: Proxy
  readonly metrics: RequestMetrics
  /** Whether there is such a resource, with such a subresource. */
  readonly isServed: (info: ResourceInfo) => boolean
  /** Undefined: nothing is audited. */
  readonly audit: Audit | undefined
  /** Undefined: nothing is traced. */
  readonly traces: Traces | undefined
  readonly clock: Clock
  readonly log: Log
  /** Whether each request is logged. */
  readonly logsRequests: () => boolean
  readonly slow: SlowRequests
  readonly newAuditId: () => string
  /** Called with each request before it is authenticated. */
  readonly onContext?: ((context: RequestContext) => void) | undefined
  /** Headers that every answer has. */
  readonly constantHeaders: Headers
  /** Undefined: no other origins are allowed. */
  readonly cors: Cors | undefined
  /** Whether clients are told to come again, elsewhere. */
  readonly isLeaving: () => boolean
}

/** Answers requests. With `knownUser` the request is not authenticated: so the server's own parts make requests. Never fails. */
export type Handle = (request: ApiRequest, knownUser?: User) => Promise<ApiResponse>

export function createHandle(handlerParts: HandlerParts): Handle {
  const parts: LifeParts = {
    ...handlerParts,
    commonHeaders: new CommonHeaders(handlerParts.constantHeaders),
  }
  return async (request, knownUser) => {
    const auditId = givenAuditId(request) || parts.newAuditId()
    const early = knownUser === undefined ? earlyAnswer(request, auditId, parts) : undefined
    if (early !== undefined) return early
    const life = new Life(request, auditId, parts)
    let response: ApiResponse | Promise<ApiResponse>
    try {
      response = life.finish(await life.run(knownUser), undefined)
    } catch (error) {
      const refused = errorResponse(error, auditId, {
        request,
        log: parts.log,
        isRefusal: !life.hasPassed,
      })
      response = life.finish(refused, error)
    }
    // To return a promise takes two turns more than to await it.
    return response instanceof Promise ? await response : response
  }
}

/** Answered before anybody asks who it is: not measured and not audited, as upstream. */
function earlyAnswer(
  request: ApiRequest,
  auditId: string,
  parts: LifeParts,
): ApiResponse | undefined {
  const refusal = parts.isLeaving() ? refusalOf(request) : undefined
  if (refusal !== undefined) {
    const response = textResponse(refusal)
    return {
      ...response,
      headers: { 'audit-id': auditId, ...response.headers },
      endsConnection: true,
    }
  }
  if (parts.cors === undefined || request.method !== 'OPTIONS') return undefined
  const allowed = parts.cors.headersFor(request)
  if (allowed === undefined) return undefined
  const headers = { ...parts.commonHeaders.withoutFlow, 'audit-id': auditId, ...allowed }
  return { status: 204, headers, body: Buffer.alloc(0) }
}

/** Node joins several headers of one name by a comma and a space; the first one counts. */
const givenAuditId = ({ headers }: ApiRequest): string =>
  firstHeader(headers, 'audit-id')?.split(', ', 1)[0] ?? ''

/** The headers that answers have in common, by flow, with a place for the audit ID: to copy them is many times faster than to join them. */
class CommonHeaders {
  readonly withoutFlow: Headers
  readonly #ofFlow = new WeakMap<Flow, Headers>()

  constructor(constant: Headers) {
    this.withoutFlow = { 'audit-id': '', ...constant, ...notCached }
  }

  of(flow: Flow | undefined): Headers {
    if (flow === undefined) return this.withoutFlow
    const known = this.#ofFlow.get(flow)
    if (known !== undefined) return known
    const made = { ...this.withoutFlow, ...flow.headers }
    this.#ofFlow.set(flow, made)
    return made
  }
}

const notCached: Headers = { 'cache-control': 'no-cache, private' }

type LifeParts = HandlerParts & { readonly commonHeaders: CommonHeaders }

/** What is known of a request so far, so that it can be measured and logged whenever it ends. */
class Life implements Follower {
  readonly #request: ApiRequest
  readonly #auditId: string
  readonly #parts: LifeParts
  readonly #startMs: number
  #info: RequestInfo | undefined
  #isLongRunning = false
  /** Of a part of this server, which does not tell when it has taken an answer. */
  #isOwn = false
  #context: RequestContext | undefined
  #place: RequestPlace | undefined
  #flow: Flow | undefined
  #measured: Measured | undefined
  #span: Span | undefined
  #audited: AuditedRequest | undefined
  /** What a browser is told about another origin. */
  #allowed: Headers | undefined

  constructor(request: ApiRequest, auditId: string, parts: LifeParts) {
    this.#request = request
    this.#auditId = auditId
    this.#parts = parts
    this.#startMs = parts.clock.monotonicMs()
  }

  /** Throws, or rejects, if the request fails. */
  run(knownUser: User | undefined): Promise<ApiResponse> {
    this.#isOwn = knownUser !== undefined
    const request = this.#request
    // The answer is written when the headers of the request may be gone.
    if (!this.#isOwn) this.#allowed = this.#parts.cors?.headersFor(request)
    const info = requestInfo(request)
    this.#info = info
    this.#isLongRunning = isLongRunning(info)
    const passing = this.#parts.gate(
      { request, info, auditId: this.#auditId, startMs: this.#startMs, knownUser },
      this,
    )
    return passing instanceof Promise
      ? passing.then((passed) => this.#serve(passed))
      : this.#serve(passing)
  }

  onContext(context: RequestContext): void {
    this.#context = context
    this.#parts.onContext?.(context)
  }

  onAuthenticated(context: RequestContext): Promise<void> | undefined {
    const { audit, traces } = this.#parts
    if (traces !== undefined) this.#trace(traces, context)
    if (audit === undefined || this.#info === undefined) return undefined
    // The gate has read the clock just now.
    const nowMs = this.#startMs + context.spent.authenticationMs
    this.#audited = audit.begin(this.#arrived(this.#info, nowMs), context.caller)
    context.audited = this.#audited
    return this.#audited?.received(context)
  }

  #trace(traces: Traces, context: RequestContext): void {
    const [info, caller] = [this.#info, context.caller]
    if (info === undefined || caller === undefined) return
    this.#span = traces.begin({ request: this.#request, info, caller, startMs: this.#startMs })
    context.span = this.#span
  }

  onIdentified(user: User, context: RequestContext, nowMs: number): Promise<void> | undefined {
    const info = this.#info
    if (info === undefined) return undefined
    const { flowControl, inFlight } = this.#parts
    const request = this.#request
    if (flowControl === undefined) {
      request.heldBy?.({ name: user.name, isExempt: user.groups.includes(mastersGroup) })
      this.#place = inFlight.enter(user, info)
      return undefined
    }
    if (this.#isOwn) {
      flowControl.countOwn()
      return undefined
    }
    // As upstream: what takes long by itself, but for a watch, is in no flow.
    if (info.verb !== 'watch' && this.#isLongRunning) {
      request.heldBy?.({ name: user.name, isExempt: false })
      return undefined
    }
    const flow = flowControl.classify(user, info)
    if (flow === undefined) return undefined
    this.#flow = flow
    request.heldBy?.({ name: user.name, isExempt: flow.level.spec.isExempt })
    const seat = flowControl.enter(flow, {
      user,
      info,
      timeoutMs: context.deadlineMs - this.#startMs,
      request,
      nowMs,
    })
    if (seat instanceof Promise) return this.#waitFor(seat, context)
    this.#place = seat
    return undefined
  }

  async #waitFor(seat: Promise<RequestPlace>, context: RequestContext): Promise<void> {
    const { monotonicMs } = this.#parts.clock
    const sinceMs = monotonicMs()
    try {
      this.#place = await seat
    } finally {
      context.spent.queueMs = monotonicMs() - sinceMs
    }
  }

  #serve(passed: Passed): Promise<ApiResponse> {
    const { metrics, clock } = this.#parts
    this.#measured = metrics.begin(passed, this.#startMs)
    const { context } = passed
    context.enter('serve')
    const { deadlineMs } = context
    const isTimed = passed.kind !== 'path' && deadlineMs !== Infinity
    context.isTimed = isTimed
    const answering =
      this.#span === undefined ? this.#answer(passed) : this.#traced(this.#span, passed)
    if (!isTimed) return answering
    return ownInTime(answering, deadlineMs - clock.monotonicMs(), {
      late: () => timeOut(context),
      isLate: () => context.hasTimedOut,
    })
  }

  #answer(passed: Passed): Promise<ApiResponse> {
    switch (passed.kind) {
      case 'path':
        return this.#document(passed)
      case 'remote':
        return this.#parts.proxy(passed)
      case 'resource':
        return this.#parts.dispatch(passed)
    }
  }

  #traced(span: Span, passed: Passed): Promise<ApiResponse> {
    const { context } = passed
    const arrival = { request: this.#request, info: context.info }
    const answer = (): Promise<ApiResponse> => this.#answer(passed)
    return this.#parts.traces?.run(span, { ...arrival, context }, answer) ?? answer()
  }

  /** Upstream records documents about the API like objects: in JSON, whatever the client accepts. */
  async #document({
    http: request,
    context,
  }: Passed & { readonly kind: 'path' }): Promise<ApiResponse> {
    const { documents } = this.#parts
    const response = await documents(request, context)
    const audited = this.#audited
    if (audited?.wantsResponse !== true || !/^\/apis?(?:\/|$)/.test(request.path)) return response
    const type = response.headers['content-type']
    if (typeof type !== 'string' || !('body' in response)) return response
    const json = type.replace(/^[^;]*/, 'application/json')
    const shown = json === type ? response : await documents(accepting(request, json), context)
    if ('body' in shown && Buffer.isBuffer(shown.body)) audited.responseObject(shown.body)
    return response
  }

  get hasPassed(): boolean {
    return this.#measured !== undefined
  }

  /** `error`: why the request failed, if it did. */
  finish(answered: ApiResponse, error: unknown): ApiResponse | Promise<ApiResponse> {
    // To read the clock costs as much as many a step of a request: all that ends now ends at the same time.
    const nowMs = this.#parts.clock.monotonicMs()
    const response = this.#finish(answered, nowMs)
    this.#countRefusal(response, error)
    if (this.#span !== undefined && this.#context !== undefined)
      this.#parts.traces?.end(this.#span, {
        context: this.#context,
        startMs: this.#startMs,
        response,
      })
    const { audit } = this.#parts
    return audit === undefined
      ? response
      : this.#recordEnd(audit, response, outcomeOf(response, error, nowMs))
  }

  /** Most requests are neither refused nor ended. */
  #countRefusal({ status }: ApiResponse, error: unknown): void {
    const { metrics, isServed } = this.#parts
    const isRefused = this.#measured === undefined
    if (isRefused) metrics.refused(status)
    if (error instanceof RemoteUnavailable)
      return metrics.remoteUnavailable(this.#request, this.#info)
    const isLimited = isRefused && status === TOO_MANY_REQUESTS
    const lateCode =
      error instanceof ApiError && error.reason === 'Timeout' ? error.code : undefined
    if (!isLimited && lateCode === undefined) return
    const ended = endedRequest(this.#request, this.#info, isServed)
    if (lateCode === undefined) metrics.dropped(ended, reportedDryRun(this.#request))
    else metrics.terminated(ended, lateCode)
  }

  #finish(answered: ApiResponse, nowMs: number): ApiResponse {
    const response = this.#counted(this.#measured?.answer(answered) ?? answered)
    this.#context?.end()
    if (this.#parts.logsRequests()) this.#logRequest(response)
    this.#noteIfSlow(response, nowMs)
    const own = this.#headers(response)
    const headers =
      this.#allowed === undefined || this.#info === undefined ? own : { ...own, ...this.#allowed }
    return {
      ...response,
      headers,
      isUnauthenticated: this.#isUnauthenticated(),
      place: this.#placeOf(response, nowMs),
    }
  }

  /** A watch has its seats until it has told what exists; it makes writes cost more, for as long as it lasts. */
  #counted(response: ApiResponse): ApiResponse {
    const { flowControl } = this.#parts
    if (flowControl === undefined || this.#info?.verb !== 'watch') return response
    if ('tunnel' in response) {
      const ended = flowControl.countWatch(this.#info, this.#request.query)
      const tunnel: typeof response.tunnel = (connection) => {
        if (connection.destroyed) ended?.()
        else connection.once('close', () => ended?.())
        response.tunnel(connection)
      }
      return { ...response, tunnel }
    }
    if (!('frames' in response)) return response
    const end = flowControl.countWatch(this.#info, this.#request.query)
    const seat = this.#place
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

  #noteIfSlow({ status }: ApiResponse, nowMs: number): void {
    const info = this.#info
    if (info === undefined || this.#isLongRunning) return
    const ms = nowMs - this.#startMs
    this.#parts.slow.note({ request: this.#request, context: this.#context, status, ms }, nowMs)
  }

  #headers(response: ApiResponse): Headers {
    const { commonHeaders, constantHeaders } = this.#parts
    const auditId = { 'audit-id': this.#auditId }
    // Only the answer to a path that cannot be parsed has no cache-control.
    if (this.#info === undefined) return { ...auditId, ...constantHeaders, ...response.headers }
    const common = commonHeaders.of(this.#flow)
    const { warnings = [], ownWarnings = [] } = this.#context ?? {}
    if (warnings.length === 0 && ownWarnings.length === 0)
      return { ...common, ...auditId, ...response.headers }
    const warning = [...warningHeaders(warnings), ...warningHeaders(ownWarnings, 'keelson')]
    const { warning: others = [], ...headers } = response.headers
    return { ...common, ...auditId, ...headers, warning: warning.concat(others) }
  }

  /** Returns the response, which waits for its event if the backend says so. */
  #recordEnd(
    audit: Audit,
    response: ApiResponse,
    outcome: Outcome,
  ): ApiResponse | Promise<ApiResponse> {
    if (this.#audited !== undefined) return this.#audited.answered(response, outcome)
    // Neither is a request recorded that the policy leaves out, nor one whose path cannot be parsed.
    if (this.#context?.caller !== undefined || this.#info === undefined) return response
    return (
      audit
        .begin(this.#arrived(this.#info, outcome.nowMs), undefined)
        ?.refused(response, outcome) ?? response
    )
  }

  #arrived(info: RequestInfo, nowMs: number): Arrived {
    return {
      request: this.#request,
      info,
      auditId: this.#auditId,
      startMs: this.#startMs,
      nowMs,
      isLongRunning: this.#isLongRunning,
    }
  }

  /** A long answer keeps its place, or seats, until it is written; others leave theirs now. */
  #placeOf(response: ApiResponse, nowMs: number): InFlightPlace | undefined {
    const [place, measured] = [this.#place, this.#measured]
    this.#place = undefined
    if ('frames' in response && !this.#isOwn && place !== undefined) {
      // Seats of a watch are left when all that existed has been sent.
      measured?.end()
      return { leave: () => place.leave(), stall: () => place.stall?.() }
    }
    if (this.#isOwn || !isLong(response)) {
      place?.leave(nowMs)
      measured?.end()
      return undefined
    }
    const kept = place?.keep(this.#context?.knownUser?.name ?? '')
    return {
      leave: () => {
        kept?.leave()
        measured?.end()
      },
      stall: () => kept?.stall?.(),
    }
  }

  /** Whoever impersonates the anonymous user is authenticated all the same. */
  #isUnauthenticated(): boolean {
    const caller = this.#context?.caller
    return caller === undefined || caller.name === anonymousUser.name
  }

  /** Logs neither the query nor any header: both may contain secrets. */
  #logRequest({ status }: ApiResponse): void {
    const { method, path, remoteAddress } = this.#request
    const ms = Math.round(this.#parts.clock.monotonicMs() - this.#startMs)
    const { knownUser, impersonator, decision } = this.#context ?? {}
    this.#parts.log('debug', 'request', {
      method,
      path,
      status,
      ms,
      user: knownUser?.name,
      impersonator: impersonator?.name,
      reason: decision?.reason || undefined,
      from: remoteAddress,
      auditId: this.#auditId,
    })
  }
}

const TOO_MANY_REQUESTS = 429

/** The same request, from a client that accepts `type`. */
function accepting(request: ApiRequest, type: string): ApiRequest {
  const { method, path, query, signal, remoteAddress, hasBody } = request
  return {
    method,
    path,
    query,
    signal,
    remoteAddress,
    headers: { accept: type },
    hasBody,
    body: () => request.body(),
    pipeBody: (take) => request.pipeBody(take),
    peerCertificate: () => request.peerCertificate(),
  }
}

function outcomeOf(response: ApiResponse, error: unknown, nowMs: number): Outcome {
  const isForeseen = error === undefined || error instanceof ApiError || error instanceof TextError
  const status = isForeseen && 'shownStatus' in response ? response.shownStatus : undefined
  return { status, panic: isForeseen ? undefined : error, nowMs }
}

/**
 * kube-apiserver's handler ends when it has written a short answer, whether or not the client reads it. A longer one, which may be
 * a whole list in memory, counts as in flight for as long as its client takes to read it.
 */
const SHORT_BYTES_MAX = 64 * 1024

function isLong(response: ApiResponse): boolean {
  if (!('body' in response)) return false
  const { body } = response
  if (Buffer.isBuffer(body) || 'chunks' in body) return body.length > SHORT_BYTES_MAX
  return body.reduce((bytes, { length }) => bytes + length, 0) > SHORT_BYTES_MAX
}

/** What is still running is aborted by the signal of the context. */
function timeOut(context: RequestContext): never {
  context.timeOut()
  throw requestTimedOut()
}
