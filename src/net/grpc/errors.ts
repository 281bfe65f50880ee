/**
 * The errors of a gRPC call, and whether a failed write may have been applied.
 *
 * A failure is not ambiguous if the write has certainly not been applied:
 * - there was no connection, or the call ended while it waited for a connection or a free stream;
 * - the peer refused the stream (RST_STREAM with REFUSED_STREAM), or sent GOAWAY with a last stream
 *   ID below that of the call (RFC 9113, 6.8: streams above the last ID were not processed);
 * - the server returned a definite status, which is any status that is not listed below.
 *
 * A failure is ambiguous if the write may have been applied:
 * - the request was sent on a live connection but no complete response arrived: the connection
 *   broke or was declared dead, the stream was reset, the response was unreadable, the deadline
 *   passed, or the caller cancelled;
 * - the server returned a status that leaves the outcome unknown: Unavailable, DeadlineExceeded,
 *   Cancelled, Unknown, Internal, DataLoss, Aborted.
 *
 * If the messages of a server are more precise than its statuses, as those of etcd are, the client
 * needs its own `StatusError`.
 */

/** The 17 gRPC status names. A status is an index into this list. */
export const statusNames = [
  'OK',
  'Cancelled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const

export type GrpcCode = (typeof statusNames)[number]

export type GrpcErrorOptions = {
  readonly ambiguous?: boolean
  readonly isUnavailable?: boolean
  readonly isTooLarge?: boolean
  readonly endpoint?: string | undefined
  readonly cause?: unknown
}

export class GrpcError extends Error {
  readonly code: GrpcCode
  /** Whether the request may have been applied, although the call failed. */
  readonly ambiguous: boolean
  /**
   * Whether the endpoint cannot serve calls at the moment. If so, another endpoint should be tried.
   */
  readonly isUnavailable: boolean
  /** Whether the error is that a received message was longer than the client allows. */
  readonly isTooLarge: boolean
  /** Endpoint of the call. Undefined if the call failed before an endpoint was chosen. */
  readonly endpoint: string | undefined

  constructor(code: GrpcCode, message: string, options: GrpcErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'GrpcError'
    this.code = code
    this.ambiguous = options.ambiguous ?? false
    this.isUnavailable = options.isUnavailable ?? code === 'Unavailable'
    this.isTooLarge = options.isTooLarge ?? false
    this.endpoint = options.endpoint
  }
}

/** Creates the error for a response whose status is not OK. */
export type StatusError = (code: GrpcCode, message: string, endpoint: string) => GrpcError

/** The default `StatusError`. It considers only the status code. */
export const statusError: StatusError = (code, message, endpoint) =>
  new GrpcError(code, message, { ambiguous: ambiguousCodes.has(code), endpoint })

const ambiguousCodes: ReadonlySet<GrpcCode> = new Set([
  'Unavailable',
  'DeadlineExceeded',
  'Cancelled',
  'Unknown',
  'Internal',
  'DataLoss',
  'Aborted',
])

/**
 * Maps the HTTP status of a response that is not gRPC to a gRPC code, as gRPC's document
 * http-grpc-status-mapping.md specifies. Such a response can come from a proxy.
 */
export function codeOfHttpStatus(status: number): GrpcCode {
  switch (status) {
    case 400:
      return 'Internal'
    case 401:
      return 'Unauthenticated'
    case 403:
      return 'PermissionDenied'
    case 404:
      return 'Unimplemented'
    case 429:
    case 502:
    case 503:
    case 504:
      return 'Unavailable'
    default:
      return 'Unknown'
  }
}
