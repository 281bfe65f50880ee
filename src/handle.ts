/** The life of a request, on one page: gate, then a verb or a document, then an answer. Any error becomes a Status. */
import { ApiError, internalError, TextError, toStatus } from './api/errors.ts'
import { type ApiRequest, type ApiResponse, firstHeader, type Handler, type Headers } from './api/request.ts'
import type { Documents } from './discovery/documents.ts'
import type { Gate, Passed } from './gate/gate.ts'
import type { Log } from './lib/log.ts'
import { printStatus } from './verbs/answer.ts'

type OfResource = Extract<Passed, { kind: 'resource' }>

/** One function per verb, closed over what it needs. */
export type Verbs = { readonly [verb in OfResource['verb']]: (request: OfResource) => Promise<ApiResponse> }

export type HandlerParts = {
  readonly gate: Gate
  readonly verbs: Verbs
  readonly documents: Documents
  readonly log: Log
  readonly newAuditId: () => string
}

/** The handler never fails. */
export function createHandler(parts: HandlerParts): Handler {
  return async (request) => {
    const auditId = firstHeader(request.headers, 'audit-id') ?? parts.newAuditId()
    const common = { 'audit-id': auditId, 'cache-control': 'no-cache, private' }
    try {
      return withHeaders(await answer(request, parts), common)
    } catch (error) {
      return withHeaders(errorResponse(error, auditId, { request, log: parts.log }), common)
    }
  }
}

async function answer(request: ApiRequest, { gate, verbs, documents }: HandlerParts): Promise<ApiResponse> {
  const passed = gate(request)
  if (passed.kind === 'path') return documents(passed.http)
  return verbs[passed.verb](passed)
}

function errorResponse(
  error: unknown,
  auditId: string,
  { request, log }: { readonly request: ApiRequest; readonly log: Log },
): ApiResponse {
  if (error instanceof TextError) {
    const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
    return { status: error.code, headers, body: Buffer.from(error.message) }
  }
  if (error instanceof ApiError) return statusResponse(error)
  // Nobody foresaw it: the client gets a number to ask about, the log has the rest.
  log('error', 'a request failed', { auditId, method: request.method, path: request.path, error: describe(error) })
  return statusResponse(internalError(`request ${auditId} failed; the server's log says why`))
}

function statusResponse(error: ApiError): ApiResponse {
  const seconds = error.details?.retryAfterSeconds ?? 0
  const headers: Headers = {
    'content-type': 'application/json',
    ...(seconds > 0 ? { 'retry-after': `${seconds}` } : {}),
    ...(error.reason === 'Forbidden' ? { 'x-content-type-options': 'nosniff' } : {}),
  }
  return { status: error.code, headers, body: printStatus(toStatus(error)) }
}

function withHeaders(response: ApiResponse, common: Headers): ApiResponse {
  return { ...response, headers: { ...common, ...response.headers } }
}

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))
