/**
 * Determines how a call failed: by the status in its trailers, by its HTTP status, or because its
 * response is unreadable.
 */
import { messageOf } from '../../lib/errors.ts'
import type { HeaderField } from '../http2/field.ts'
import { NumberTooLarge } from './codec/reader.ts'
import { codeOfHttpStatus, GrpcError, statusError, statusNames } from './errors.ts'

/**
 * Whether these headers carry the gRPC status, as in a response without a message (trailers-only).
 */
export const hasStatus = (fields: readonly HeaderField[]): boolean =>
  valueOf(fields, 'grpc-status') !== undefined

/**
 * Returns the error in the trailers, if there is one. A status code that gRPC does not define is
 * mapped to Unknown.
 */
export function statusFailure(
  fields: readonly HeaderField[],
  endpoint: string,
  newError = statusError,
): GrpcError | undefined {
  const status = Number(valueOf(fields, 'grpc-status'))
  if (status === 0) return undefined
  const message = decodeMessage(valueOf(fields, 'grpc-message'))
  return newError(statusNames[status] ?? 'Unknown', message, endpoint)
}

export const isHttpOk = (fields: readonly HeaderField[]): boolean =>
  valueOf(fields, ':status') === '200'

/**
 * Returns the error for a response that is not gRPC. Such a response comes from a proxy. The server
 * may have received the request.
 */
export function notGrpc(fields: readonly HeaderField[], endpoint: string): GrpcError {
  const status = Number(valueOf(fields, ':status'))
  return new GrpcError(codeOfHttpStatus(status), `HTTP status ${status}`, {
    ambiguous: true,
    endpoint,
  })
}

/**
 * Returns the error for a response that cannot be decoded. In this case, the server has probably
 * applied the request.
 */
export function unreadable(cause: unknown, endpoint: string): GrpcError {
  const code =
    cause instanceof GrpcError
      ? cause.code
      : cause instanceof NumberTooLarge
        ? 'OutOfRange'
        : 'Internal'
  const reason = messageOf(cause)
  return new GrpcError(code, `cannot read the response: ${reason}`, {
    ambiguous: true,
    endpoint,
    cause,
  })
}

function valueOf(fields: readonly HeaderField[], name: string): string | undefined {
  for (const field of fields) if (field.name === name) return field.value
  return undefined
}

/** Decodes a percent-encoded message. A message that cannot be decoded is returned unchanged. */
function decodeMessage(text = ''): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
