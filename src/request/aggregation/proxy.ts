/**
 * Forwards a request to the remote server for its group and version, and returns the response.
 * Bodies are streamed in both directions, no faster than the receiver reads them. Headers identify
 * the user. Redirects are not forwarded to the client.
 */
import type { RequestContext } from '../../api/context.ts'
import {
  badGateway,
  noSuchMethod,
  proxyFailed,
  RemoteUnavailable,
  requestTimedOut,
} from '../../api/errors.ts'
import { answerHeaders, isUpgrade, requestHeaders } from '../../api/proxied-headers.ts'
import type { ApiRequest, ApiResponse, FrameSource, Headers } from '../../api/request.ts'
import { BLOCK_BYTES } from '../../lib/bytes/blocks.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { hostPort } from '../../lib/net/hosts.ts'
import { join } from '../../lib/net/join-streams.ts'
import { type FailedCall, reasonOf } from '../../net/outbound/send.ts'
import type { Address } from '../../net/outbound/service-address.ts'
import type { AnswerBody } from './answer-body.ts'
import type { ApiServicesInformer } from './api-services.ts'
import { identityHeaders } from './identity.ts'
import { messageChunks } from './message-chunks.ts'
import { type Remote, UnresolvedService } from './remote.ts'
import { LONG_WINDOW_BYTES, type RemoteAnswer, WATCH_WINDOW_BYTES } from './remote-request.ts'
import { RequestLifetime } from './request-lifetime.ts'
import { distinctHeaders } from './send-http1.ts'
import { UnansweredUpgrade } from './send-upgrade.ts'
import { encodePath, remoteTarget } from './target.ts'

/**
 * Maximum memory used by a response that its client does not read: the data that has arrived, plus
 * one block that can be almost empty.
 */
const WATCH_HELD_BYTES = WATCH_WINDOW_BYTES + BLOCK_BYTES
const LONG_HELD_BYTES = LONG_WINDOW_BYTES + BLOCK_BYTES
/** Tolerance for timers that fire early, because their resolution is one millisecond. */
const EARLY_MS_MAX = 5
/**
 * Timeout of discovery documents, as in kube-apiserver. Clients request the documents of all
 * servers before they do anything else.
 */
const DISCOVERY_MS_MAX = 5_000

export type ProxyOptions = {
  readonly apiServices: ApiServicesInformer
  /** Whether the RemoteRequestHeaderUID feature gate is enabled. */
  readonly hasUid: boolean
  readonly clock: Clock
}

export type ProxiedRequest = { readonly http: ApiRequest; readonly context: RequestContext }

/**
 * Forwards a request to the remote server for its group and version. If `name` is given, the
 * request is forwarded to the server of the APIService with this name, regardless of the path.
 */
export type Proxy = (request: ProxiedRequest, name?: string) => Promise<ApiResponse>

export function createProxy({ apiServices, hasUid, clock }: ProxyOptions): Proxy {
  return async ({ http, context }, name) => {
    const known = name === undefined ? apiServices.remoteAt(http.path) : apiServices.get(name)
    if (known?.remote === undefined || !known.service.isAvailable) throw new RemoteUnavailable()
    // Reject a method with lowercase letters. Node would send it in upper case, and the method in
    // upper case was not authorized.
    if (http.method !== http.method.toUpperCase()) throw noSuchMethod()
    const { remote } = known
    const address = await resolved(remote)
    const headers: Headers = {
      ...requestHeaders(http),
      ...(takesTrailers(http) ? { te: 'trailers' } : {}),
      ...identity(context, hasUid),
      'audit-id': context.auditId,
    }
    const life = new RequestLifetime(http.signal, msLeft(context, clock))
    if (isUpgrade(http)) return upgrade(http, { remote, address, headers, context, life })
    const forwarded = {
      'x-forwarded-uri': encodePath(http.path),
      'x-forwarded-host': hostPort(address),
      'x-forwarded-proto': 'https',
    }
    const answer = await reached(() =>
      remote.send(
        {
          method: http.method,
          path: remoteTarget(http),
          headers: { ...headers, ...forwarded },
          pipeBody: http.hasBody ? (take) => http.pipeBody(take) : undefined,
          signal: life.signal,
        },
        address,
      ),
    ).catch((error: unknown) => {
      life.end()
      // If only the shorter timeout for discovery has expired, the request itself has not timed
      // out. The tolerance is needed because a timer can fire a millisecond early.
      const isOver = context.deadlineMs - clock.monotonicMs() < EARLY_MS_MAX
      throw life.isLate && isOver ? requestTimedOut() : error
    })
    answer.body.onEnd(() => life.end())
    return responseOf(http, context, answer)
  }
}

async function resolved(remote: Remote): Promise<Address> {
  try {
    return await remote.resolve()
  } catch (error) {
    // As in kube-apiserver, the response does not say why the Service cannot be resolved. Not every
    // user is allowed to read the Services of a cluster.
    throw error instanceof UnresolvedService ? new RemoteUnavailable(error) : error
  }
}

function identity(context: RequestContext, hasUid: boolean): Headers {
  try {
    return identityHeaders(context.user, { hasUid })
  } catch (error) {
    throw proxyFailed(`error trying to reach service: ${messageOf(error)}`, error)
  }
}

async function reached<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send()
  } catch (error) {
    throw proxyFailed(
      `error trying to reach service: ${error instanceof Error ? whyOf(error) : String(error)}`,
      error,
    )
  }
}

const whyOf = (error: FailedCall): string => reasonOf(error)

/** Maximum number of path segments that are read. The path of a discovery document has three. */
const SEGMENTS_MAX = 8

/**
 * Returns the remaining time of the request, which is limited further for discovery documents. The
 * result is Infinity for watches.
 */
function msLeft({ info, deadlineMs }: RequestContext, clock: Clock): number {
  const left = deadlineMs - clock.monotonicMs()
  if (info.kind !== 'path') return left
  const isDiscovery =
    info.path.split('/', SEGMENTS_MAX).filter((segment) => segment !== '').length === 3
  return isDiscovery ? Math.min(left, DISCOVERY_MS_MAX) : left
}

const takesTrailers = ({ headers }: ApiRequest): boolean =>
  headers['te'] !== undefined && /(^|,)\s*trailers\s*(,|$)/i.test(String(headers['te']))

function responseOf(http: ApiRequest, context: RequestContext, answer: RemoteAnswer): ApiResponse {
  const { status, headers, body, trailers } = answer
  if (isRedirect(answer)) {
    body.close()
    return {
      status: 502,
      headers: { 'content-type': textType },
      body: Buffer.from(badGateway),
      isEncoded: true,
    }
  }
  const { 'content-length': length, ...passed } = answerHeaders(headers)
  const shown = withOwn(passed, context)
  const known = typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : undefined
  if (status === NO_CONTENT || status === NOT_MODIFIED || http.method === 'HEAD') {
    body.close()
    // In a response to HEAD, or with status 304, Content-Length is the length of the full response.
    const all =
      known === undefined || status === NO_CONTENT
        ? shown
        : { ...shown, 'content-length': `${known}` }
    return { status, headers: all, frames: framesOf(body), isFinite: true }
  }
  const { trailer } = headers
  if (trailer !== undefined || known === undefined) {
    const all = trailer === undefined ? shown : { ...shown, trailer }
    const isFinite = context.deadlineMs !== Infinity
    if (isFinite) answer.widen?.()
    const heldBytes = isFinite ? LONG_HELD_BYTES : WATCH_HELD_BYTES
    return {
      status,
      headers: all,
      frames: framesOf(body),
      isFinite,
      trailers,
      heldBytes,
      isRelayed: true,
    }
  }
  // Send the body in a single write if all of it has arrived. Most bodies are short and arrive
  // together with the headers.
  const whole = body.takeWhole()
  if (whole !== undefined) return { status, headers: shown, body: whole, isEncoded: true }
  if (known > WATCH_WINDOW_BYTES) answer.widen?.()
  const heldBytes = Math.min(known, LONG_HELD_BYTES)
  const lazy = {
    length: known,
    heldBytes,
    chunks: chunksOf(body),
    close: () => body.close(),
    isRelayed: true,
  }
  return { status, headers: shown, body: lazy, isEncoded: true }
}

const NO_CONTENT = 204
const NOT_MODIFIED = 304

/**
 * Wraps the methods of a body in functions without `this`, because other code calls them without
 * the object to which they belong.
 */
const framesOf = (body: AnswerBody): FrameSource => ({
  take: () => body.take(),
  onReady: (ready) => body.onReady(ready),
  close: () => body.close(),
})

const textType = 'text/plain; charset=utf-8'

const isRedirect = ({ status, headers }: Pick<RemoteAnswer, 'status' | 'headers'>): boolean =>
  status >= 300 && status < 400 && headers['location'] !== undefined && headers['location'] !== ''

/**
 * Merges the headers of both servers, as in kube-apiserver. Flow control headers of the remote
 * server are removed, because they describe the flows of that server.
 */
function withOwn(headers: Headers, { auditId }: RequestContext): Headers {
  const {
    'audit-id': auditIds,
    'cache-control': caching,
    'x-kubernetes-pf-flowschema-uid': _schema,
    'x-kubernetes-pf-prioritylevel-uid': _level,
    ...others
  } = headers
  return {
    ...others,
    ...(auditIds === undefined ? {} : { 'audit-id': [auditId, ...listOf(auditIds)] }),
    ...(caching === undefined
      ? {}
      : { 'cache-control': ['no-cache, private', ...listOf(caching)] }),
  }
}

const listOf = (value: Headers[string]): readonly string[] =>
  typeof value === 'string' ? [value] : value

async function* chunksOf(body: AnswerBody): AsyncGenerator<readonly Buffer[]> {
  try {
    for (let parts = body.take(); parts !== undefined; parts = body.take()) {
      if (parts.length > 0) yield parts
      else await new Promise<void>((resolve) => body.onReady(resolve))
    }
  } finally {
    body.close()
  }
}

type Upgrade = {
  readonly remote: Remote
  readonly address: Address
  readonly headers: Headers
  readonly context: RequestContext
  /** Limits the duration of the request until a response arrives. */
  readonly life: RequestLifetime
}

/**
 * Forwards an upgrade request without its body. The Content-Length is also left out. Otherwise, a
 * server that refuses the upgrade would read the next request as the body.
 */
async function upgrade(
  http: ApiRequest,
  { remote, address, headers, context, life }: Upgrade,
): Promise<ApiResponse> {
  const { 'content-length': _length, ...passed } = headers
  const asked = { ...passed, connection: 'Upgrade', upgrade: http.headers.upgrade ?? '' }
  const request = {
    method: http.method,
    path: remoteTarget(http),
    headers: asked,
    signal: life.signal,
  }
  const { message, socket } = await remote
    .connections()
    .upgrade(address, request)
    .catch((error: FailedCall) => {
      if (life.isLate) throw requestTimedOut()
      const isOpened = error instanceof UnansweredUpgrade
      throw proxyFailed(
        isOpened ? error.message : `error dialing backend: ${reasonOf(error)}`,
        error,
      )
    })
    .finally(() => life.end())
  if (life.signal.aborted) {
    socket?.destroy()
    message.destroy()
    throw requestTimedOut()
  }
  const { statusCode: status = 0 } = message
  const received = withOwn(answerHeaders(distinctHeaders(message.rawHeaders)), context)
  if (socket !== undefined) {
    const agreed = { ...received, connection: 'Upgrade', upgrade: message.headers.upgrade ?? '' }
    return { status: 101, headers: agreed, tunnel: (client) => join(client, socket, 0) }
  }
  if (status >= 400) return { status, headers: received, stream: messageChunks(message) }
  message.destroy()
  throw proxyFailed(`invalid upgrade response: status code ${status}`)
}
