/**
 * The stage that handles a request: it serves a document, forwards the request to an aggregated API
 * server, or executes a verb on a resource.
 */
import { requestTimedOut } from '../api/errors.ts'
import type { RequestContext } from '../api/context.ts'
import type { ApiRequest, ApiResponse } from '../api/request.ts'
import type { Span } from '../api/span.ts'
import { withOwnTimeout } from '../lib/time/timers.ts'
import type { Proxy } from './aggregation/proxy.ts'
import type { Documents } from './discovery/documents.ts'
import type { Dispatch } from './dispatch.ts'
import type { RequestMetrics } from './filters/request-metrics.ts'
import type { RequestLifecycle, Stage } from './lifecycle.ts'
import type { RoutedRequest } from './routed-request.ts'
import type { Traces } from './tracing/tracing.ts'

export type ServeOptions = {
  readonly dispatch: Dispatch
  readonly documents: Documents
  /** Forwards a request to the aggregated API server for its path. */
  readonly proxy: Proxy
  readonly metrics: RequestMetrics
  /** Traces requests. Undefined if tracing is disabled. */
  readonly traces: Traces | undefined
  readonly monotonicMs: () => number
}

export function serve(options: ServeOptions): Stage {
  const { metrics, monotonicMs } = options
  return (life) => {
    const { routed, startMs, span } = life
    life.measured = metrics.begin(routed, startMs)
    const { context } = routed
    context.enter('serve')
    const { deadlineMs } = context
    const isTimed = routed.kind !== 'path' && deadlineMs !== Infinity
    context.isTimed = isTimed
    const answering =
      span === undefined ? answerOf(life, routed, options) : traced(span, life, routed, options)
    const inTime = isTimed
      ? withOwnTimeout(answering, deadlineMs - monotonicMs(), {
          onTimeout: () => timeOut(context),
          isTimedOut: () => context.hasTimedOut,
        })
      : answering
    return inTime.then((response) => {
      life.response = response
    })
  }
}

function traced(
  span: Span,
  life: RequestLifecycle,
  routed: RoutedRequest,
  options: ServeOptions,
): Promise<ApiResponse> {
  const { request, context } = life
  const answer = (): Promise<ApiResponse> => answerOf(life, routed, options)
  return options.traces?.run(span, { request, info: context.info, context }, answer) ?? answer()
}

function answerOf(
  life: RequestLifecycle,
  routed: RoutedRequest,
  { dispatch, documents, proxy }: ServeOptions,
): Promise<ApiResponse> {
  switch (routed.kind) {
    case 'path':
      return document(life, documents)
    case 'remote':
      return proxy(routed)
    case 'resource':
      return dispatch(routed)
  }
}

/**
 * Serves a document. As in kube-apiserver, the audit log records discovery documents as JSON, even
 * if the client accepts another media type.
 */
async function document(
  { request, context, audited }: RequestLifecycle,
  documents: Documents,
): Promise<ApiResponse> {
  const response = await documents(request, context)
  if (audited?.wantsResponse !== true || !/^\/apis?(?:\/|$)/.test(request.path)) return response
  const type = response.headers['content-type']
  if (typeof type !== 'string' || !('body' in response)) return response
  const json = type.replace(/^[^;]*/, 'application/json')
  const shown = json === type ? response : await documents(accepting(request, json), context)
  if ('body' in shown && Buffer.isBuffer(shown.body)) audited.responseObject(shown.body)
  return response
}

/** Returns a copy of the request with an Accept header for `type` and no other headers. */
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

/**
 * Ends a request whose deadline has passed. Aborts the signal of the request, so that unfinished
 * work stops, and throws a timeout error.
 */
function timeOut(context: RequestContext): never {
  context.timeOut()
  throw requestTimedOut()
}
