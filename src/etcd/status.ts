/** How an answer says that the call failed: in its trailers, in its HTTP status, or by being unreadable. */
import type { IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2'
import { NumberTooLarge } from './codec/reader.ts'
import { answeredError, codeOfHttpStatus, EtcdError } from './errors.ts'

/** The failure that trailers tell, if any. */
export function statusFailure(headers: IncomingHttpHeaders, endpoint: string): EtcdError | undefined {
  const status = Number(headers['grpc-status'])
  return status === 0 ? undefined : answeredError(status, decodeMessage(headers['grpc-message']), endpoint)
}

/** The answer is not of gRPC: somebody in between gave it, and the request may have got through before. */
export function notGrpc(headers: IncomingHttpStatusHeader, endpoint: string): EtcdError {
  const status = Number(headers[':status'])
  return new EtcdError(codeOfHttpStatus(status), `HTTP status ${status}`, { ambiguous: true, endpoint })
}

/** An answer came but could not be read: what was asked has most likely happened. */
export function unreadable(cause: unknown, endpoint: string): EtcdError {
  const code = cause instanceof EtcdError ? cause.code : cause instanceof NumberTooLarge ? 'OutOfRange' : 'Internal'
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new EtcdError(code, `an answer cannot be taken: ${reason}`, { ambiguous: true, endpoint, cause })
}

/** gRPC percent-encodes messages; what does not decode is shown as it is. */
function decodeMessage(message: string | string[] | undefined): string {
  const text = typeof message === 'string' ? message : ''
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
