/** How a call fails: by the status in its trailers, by its HTTP status, or because its answer is unreadable. */
import type { HeaderField } from '../http2/field.ts'
import { messageOf } from '../../lib/message-of.ts'
import { NumberTooLarge } from './codec/reader.ts'
import { answeredError, codeOfHttpStatus, EtcdError } from './errors.ts'

/** Whether these headers carry the gRPC status. They do so in a response without a message (trailers-only). */
export const hasStatus = (fields: readonly HeaderField[]): boolean =>
  valueOf(fields, 'grpc-status') !== undefined

/** The failure in the trailers, if any. */
export function statusFailure(
  fields: readonly HeaderField[],
  endpoint: string,
): EtcdError | undefined {
  const status = Number(valueOf(fields, 'grpc-status'))
  return status === 0
    ? undefined
    : answeredError(status, decodeMessage(valueOf(fields, 'grpc-message')), endpoint)
}

export const isHttpOk = (fields: readonly HeaderField[]): boolean =>
  valueOf(fields, ':status') === '200'

/** The response is not gRPC: a proxy in between gave it, and the request may have reached etcd before. */
export function notGrpc(fields: readonly HeaderField[], endpoint: string): EtcdError {
  const status = Number(valueOf(fields, ':status'))
  return new EtcdError(codeOfHttpStatus(status), `HTTP status ${status}`, {
    ambiguous: true,
    endpoint,
  })
}

/** An answer came but could not be read: the request has most likely taken effect. */
export function unreadable(cause: unknown, endpoint: string): EtcdError {
  const code =
    cause instanceof EtcdError
      ? cause.code
      : cause instanceof NumberTooLarge
        ? 'OutOfRange'
        : 'Internal'
  const reason = messageOf(cause)
  return new EtcdError(code, `an answer cannot be taken: ${reason}`, {
    ambiguous: true,
    endpoint,
    cause,
  })
}

function valueOf(fields: readonly HeaderField[], name: string): string | undefined {
  for (const field of fields) if (field.name === name) return field.value
  return undefined
}

/** gRPC percent-encodes messages; one that cannot be decoded is kept as it is. */
function decodeMessage(text = ''): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
