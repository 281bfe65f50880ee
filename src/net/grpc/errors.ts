/**
 * The errors of a gRPC call, and whether a failed write may have been applied.
 *
 * Not ambiguous, the write has certainly not been applied:
 * - there was no connection, or the call ended while it waited for one or for a free stream;
 * - the peer refused the stream (RST_STREAM REFUSED_STREAM), or sent GOAWAY with a last stream
 *   below
 *   ours (RFC 9113, 6.8: such streams were not processed);
 * - the server answered with a verdict: any status that is not listed below.
 *
 * Ambiguous, the write may have been applied:
 * - the request was sent on a live connection and no complete answer came: the connection broke or
 *   was declared dead, the stream was reset, the answer could not be read, our deadline passed, the
 *   caller cancelled;
 * - the server answered that it does not know: Unavailable, DeadlineExceeded, Cancelled, Unknown,
 *   Internal, DataLoss, Aborted.
 *
 * A server whose messages say more than its statuses, as etcd's do, has its own `StatusError`.
 */

/** The 17 gRPC status names; a status is the index. */
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
  readonly endpoint?: string | undefined
  readonly cause?: unknown
}

export class GrpcError extends Error {
  readonly code: GrpcCode
  /** Whether the request may have been applied although it failed. */
  readonly ambiguous: boolean
  /** Whether the endpoint cannot serve calls at the moment while another may. */
  readonly isUnavailable: boolean
  /** The endpoint of the call; undefined when the call never got as far as an endpoint. */
  readonly endpoint: string | undefined

  constructor(code: GrpcCode, message: string, options: GrpcErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'GrpcError'
    this.code = code
    this.ambiguous = options.ambiguous ?? false
    this.isUnavailable = options.isUnavailable ?? code === 'Unavailable'
    this.endpoint = options.endpoint
  }
}

/** Makes the error for a status other than OK that the server answered with. */
export type StatusError = (code: GrpcCode, message: string, endpoint: string) => GrpcError

/** The usual `StatusError`: the status alone decides. */
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
 * The status of an answer that is not gRPC at all, such as one of a proxy in between
 * (gRPC's document http-grpc-status-mapping.md).
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
