/**
 * What a call to etcd can fail with, and whether a failed write may have happened all the same.
 *
 * Not ambiguous, the write has certainly not happened:
 * - no connection was made, or the call ended while it waited for one or for a free stream;
 * - the connection refused the stream (RST_STREAM REFUSED_STREAM), or said GOAWAY with a last stream below ours
 *   (RFC 9113, 6.8: such streams were not processed);
 * - etcd answered with a verdict: any status but those listed below. Examples: FailedPrecondition, PermissionDenied,
 *   Unauthenticated, OutOfRange (compacted), ResourceExhausted ('too many requests', 'message larger than max'),
 *   InvalidArgument, and Unavailable with a message that etcd says only before it proposes ('no leader').
 *
 * Ambiguous, the write may have happened:
 * - the request was handed to a live connection and no complete answer came: the connection broke or was declared dead,
 *   the stream was reset, the answer could not be read, our deadline passed, the caller cancelled;
 * - etcd answered that it lost track: Unavailable ('leader changed', 'request timed out', 'server stopped', …),
 *   DeadlineExceeded, Cancelled, Unknown, Internal, DataLoss, Aborted;
 * - etcd answered 'mvcc: database space exceeded': the member that finds its quota used up while it applies a write has
 *   applied it all the same.
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

export type EtcdCode = (typeof statusNames)[number]

export type EtcdErrorOptions = {
  readonly ambiguous?: boolean
  readonly endpoint?: string | undefined
  readonly cause?: unknown
}

export class EtcdError extends Error {
  readonly code: EtcdCode
  /** Whether the request may have been applied although it failed. */
  readonly ambiguous: boolean
  /** Where it failed; undefined when it never got as far as an endpoint. */
  readonly endpoint: string | undefined

  constructor(code: EtcdCode, message: string, options: EtcdErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'EtcdError'
    this.code = code
    this.ambiguous = options.ambiguous ?? false
    this.endpoint = options.endpoint
  }
}

/** The error for a status that etcd itself answered with. */
export function answeredError(status: number, message: string, endpoint: string): EtcdError {
  const code = statusNames[status] ?? 'Unknown'
  return new EtcdError(code, message, { ambiguous: isAmbiguousAnswer(code, message), endpoint })
}

const lostTrack: ReadonlySet<EtcdCode> = new Set([
  'Unavailable',
  'DeadlineExceeded',
  'Cancelled',
  'Unknown',
  'Internal',
  'DataLoss',
  'Aborted',
])

/** Answers that a member gives before it proposes anything, because of its own state: another member may serve the call. */
const unableMessages: ReadonlySet<string> = new Set([
  'etcdserver: no leader',
  'etcdserver: not capable',
  'etcdserver: rpc not supported for learner',
])

/** Whether the member that answered cannot serve at the moment while another may. */
export function isUnable(error: EtcdError): boolean {
  return error.code === 'Unavailable' || unableMessages.has(error.message)
}

const appliedWithoutSpace = 'etcdserver: mvcc: database space exceeded'

function isAmbiguousAnswer(code: EtcdCode, message: string): boolean {
  return message === appliedWithoutSpace || (lostTrack.has(code) && !unableMessages.has(message))
}

/**
 * The status of an answer that is not gRPC at all, such as one of a proxy in between
 * (gRPC's document http-grpc-status-mapping.md).
 */
export function codeOfHttpStatus(status: number): EtcdCode {
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
