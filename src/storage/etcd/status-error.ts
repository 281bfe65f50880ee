/**
 * Maps the status of an etcd response to an error. Some of etcd's messages are more precise than
 * the status:
 * - 'no leader' and similar: because of its own state, the member rejects the call before it
 *   proposes anything. The write has not been applied, and another member may serve the call.
 * - 'mvcc: database space exceeded': a member that reaches its quota while it applies a write has
 *   applied that write.
 */
import { GrpcError, type StatusError, statusError } from '../../net/grpc/errors.ts'

const unableMessages: ReadonlySet<string> = new Set([
  'etcdserver: no leader',
  'etcdserver: not capable',
  'etcdserver: rpc not supported for learner',
])

const appliedWithoutSpace = 'etcdserver: mvcc: database space exceeded'

export const etcdStatusError: StatusError = (code, message, endpoint) => {
  if (message === appliedWithoutSpace)
    return new GrpcError(code, message, { ambiguous: true, endpoint })
  if (unableMessages.has(message))
    return new GrpcError(code, message, { isUnavailable: true, endpoint })
  return statusError(code, message, endpoint)
}
