/**
 * The first stages of a request. They reject requests during shutdown, check the origins of
 * browsers, and parse the path and method.
 */
import { RequestContext } from '../../api/context.ts'
import { badRequest } from '../../api/errors.ts'
import type { Headers } from '../../api/request.ts'
import { parseDuration } from '../../lib/time/duration.ts'
import { textResponse } from '../error-response.ts'
import type { Stage } from '../lifecycle.ts'
import type { Cors } from './cors.ts'
import { isLongRunning } from './in-flight.ts'
import { refusalOf } from './leaving.ts'
import { requestInfo } from './request-info.ts'

export type ServerPhase = {
  /** Whether the server is shutting down and rejects new requests. */
  readonly isLeaving: boolean
}

/** Rejects new requests during shutdown. */
export const refuseWhileLeaving =
  (server: ServerPhase): Stage =>
  (life) => {
    const refusal = life.isOwn || !server.isLeaving ? undefined : refusalOf(life.request)
    if (refusal === undefined) return
    const response = textResponse(refusal)
    const headers = { 'audit-id': life.auditId, ...response.headers }
    life.earlyResponse = { ...response, headers, endsConnection: true }
  }

/**
 * Responds to preflight requests. `common` contains the headers of all responses to preflight
 * requests.
 */
export const allowOrigins =
  (cors: Cors | undefined, common: Headers): Stage =>
  (life) => {
    if (cors === undefined || life.isOwn) return
    // Determine the headers now, because the request headers might no longer be available when the
    // response is written.
    life.corsHeaders = cors.headersFor(life.request)
    if (life.request.method !== 'OPTIONS' || life.corsHeaders === undefined) return
    const headers = { ...common, 'audit-id': life.auditId, ...life.corsHeaders }
    life.earlyResponse = { status: 204, headers, body: Buffer.alloc(0) }
  }

export type ReceiveOptions = {
  /** Timeout of requests. Long-running requests, such as watches, have no timeout. */
  readonly requestTimeoutMs: number
  readonly monotonicMs: () => number
  /** Called with the context of each request before authentication. */
  readonly onContext?: ((context: RequestContext) => void) | undefined
}

/** Parses the path and the method, and creates the context that accompanies the request. */
export const receive =
  ({ requestTimeoutMs, monotonicMs, onContext }: ReceiveOptions): Stage =>
  (life) => {
    const { request, auditId, startMs } = life
    const info = requestInfo(request)
    life.info = info
    life.isLongRunning = isLongRunning(info)
    const timeoutMs = life.isLongRunning ? Infinity : timeoutOf(request.query, requestTimeoutMs)
    life.context = new RequestContext({
      auditId,
      info,
      timeoutMs,
      startMs,
      client: request,
      monotonicMs,
    })
    onContext?.(life.context)
  }

/**
 * Returns the timeout of a request. With any request, clients can send the `timeout` parameter,
 * which is a Go duration. It cannot exceed the server's own timeout.
 */
function timeoutOf(query: URLSearchParams, maxMs: number): number {
  const text = query.get('timeout') ?? ''
  if (text === '') return maxMs
  const asked = parseDuration(text)
  if ('fault' in asked)
    throw badRequest(`invalid timeout specified in the request URL - ${asked.fault}`)
  return asked.ms > 0 ? Math.min(asked.ms, maxMs) : maxMs
}
