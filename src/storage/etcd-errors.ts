/** What etcd says is wrong, as a StorageError. The message stays etcd's: some of them reach clients, as they do upstream. */
import { EtcdError } from '../etcd/errors.ts'
import { StorageError, type StorageErrorCode } from './errors.ts'

export type FailedCall = {
  /** Only a write can have happened in spite of its failure. */
  readonly isWrite: boolean
  readonly signal?: AbortSignal | undefined
}

export function toStorageError(error: unknown, call: FailedCall): unknown {
  if (!(error instanceof EtcdError)) return error
  const code = call.signal?.aborted ? 'cancelled' : codeOf(error)
  return new StorageError(code, error.message, { cause: error, ambiguous: call.isWrite && error.ambiguous })
}

/** etcd tells some conditions apart only by their text; these are the same since 3.4. */
function codeOf({ code, message }: EtcdError): StorageErrorCode {
  if (code === 'OutOfRange' && message.includes('has been compacted')) return 'compacted'
  if (code === 'OutOfRange' && message.includes('future revision')) return 'too-new'
  if (code === 'ResourceExhausted' && message.includes('database space exceeded')) return 'no-space'
  // Of etcd's limit on requests, or of our own on answers.
  if (code === 'ResourceExhausted' && /larger than|longer than/.test(message)) return 'too-large'
  if (code === 'InvalidArgument' && message.includes('request is too large')) return 'too-large'
  if (code === 'NotFound' && message.includes('lease not found')) return 'missing'
  return 'unavailable'
}
