/** Converts an error to a response: a Status object, or a line of text. */
import { ApiError, internalError, TextError, toStatus } from '../api/errors.ts'
import type { ApiRequest, ApiResponse, Headers } from '../api/request.ts'
import { printError, printUntyped } from './discovery/print.ts'
import type { Log } from '../lib/telemetry/log.ts'

export function errorResponse(
  error: unknown,
  auditId: string,
  {
    request,
    log,
    isRefusal,
  }: { readonly request: ApiRequest; readonly log: Log; readonly isRefusal: boolean },
): ApiResponse {
  if (error instanceof TextError) return textResponse(error)
  if (error instanceof ApiError) return statusResponse(error, request, isRefusal)
  // The error is unexpected. The client receives an ID that it can report, and the log contains the
  // details.
  log('error', 'a request failed', {
    auditId,
    method: request.method,
    path: request.path,
    error: describe(error),
  })
  return statusResponse(
    internalError(`request ${auditId} failed; the server's log says why`),
    request,
    false,
  )
}

export function textResponse({ code, message, retryAfterSeconds }: TextError): ApiResponse {
  const headers: Headers = {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    ...(retryAfterSeconds > 0 ? { 'retry-after': `${retryAfterSeconds}` } : {}),
  }
  return { status: code, headers, body: Buffer.from(message) }
}

/**
 * Returns a Status in a media type that the client accepts. If the server supports none of these
 * media types, the Status is sent as JSON.
 */
function statusResponse(error: ApiError, request: ApiRequest, isRefusal: boolean): ApiResponse {
  const seconds = error.details?.retryAfterSeconds ?? 0
  const status = toStatus(error)
  const { type, body, isAccepted } = error.isUntyped
    ? printUntyped(status)
    : printError(status, request)
  const headers: Headers = {
    'content-type': type,
    ...(seconds > 0 ? { 'retry-after': `${seconds}` } : {}),
    // As in kube-apiserver, only a 403 response of the authorization filter and a few other errors
    // have the header x-content-type-options.
    ...(error.hasNosniff || (isRefusal && error.reason === 'Forbidden')
      ? { 'x-content-type-options': 'nosniff' }
      : {}),
  }
  // As in kube-apiserver, the audit log does not contain a Status that is sent in a media type that
  // the client does not accept.
  return { status: error.code, headers, body, ...(isAccepted ? { shownStatus: status } : {}) }
}

const describe = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error)
