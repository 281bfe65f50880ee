/**
 * Maps etcd's errors to StorageErrors. The messages are not changed, because some of them are sent
 * to clients, as in kube-apiserver.
 */
import { GrpcError } from '../net/grpc/errors.ts'
import { StorageError, type StorageErrorCode } from './errors.ts'

export type FailedCall = {
  /** Whether the call is a write. A write may have taken effect even if its call failed. */
  readonly isWrite: boolean
  readonly signal?: AbortSignal | undefined
}

export function toStorageError(error: unknown, call: FailedCall): unknown {
  if (!(error instanceof GrpcError)) return error
  const code = call.signal?.aborted ? 'cancelled' : codeOf(error)
  return new StorageError(code, error.message, {
    cause: error,
    ambiguous: call.isWrite && error.ambiguous,
  })
}

/**
 * Maps an etcd error to a code. Some errors differ only by their text, which has not changed since
 * etcd 3.4.
 */
function codeOf({ code, message, isTooLarge }: GrpcError): StorageErrorCode {
  if (isTooLarge) return 'too-large'
  if (code === 'OutOfRange' && message.includes('has been compacted')) return 'compacted'
  if (code === 'OutOfRange' && message.includes('future revision')) return 'too-new'
  if (code === 'ResourceExhausted' && message.includes('database space exceeded')) return 'no-space'
  if (code === 'ResourceExhausted' && message.includes('larger than max')) return 'too-large'
  if (code === 'InvalidArgument' && message.includes('request is too large')) return 'too-large'
  if (code === 'NotFound' && message.includes('lease not found')) return 'missing'
  return 'unavailable'
}
