/** What a client is told when the database refuses or fails. */
import {
  alreadyExists,
  type ApiError,
  conflict,
  expired,
  internalError,
  modifiedMeanwhile,
  notFound,
  type ResourceName,
  serviceUnavailable,
  storageTimeout,
  tooLargeResourceVersion,
  unclassified,
} from '../api/errors.ts'
import { StorageError } from '../storage/errors.ts'

export type Operation = {
  readonly resource: ResourceName
  /** Empty for lists and watches. */
  readonly name: string
  /** For messages: get, list, create. */
  readonly verb: string
  /** The version that was asked for, if any. */
  readonly askedVersion?: number
}

/** Runs the operation; its storage errors become errors of the API. */
export async function translated<T>(operation: Operation, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw error instanceof StorageError ? fromStorage(error, operation) : error
  }
}

export function fromStorage(error: StorageError, { resource, name, verb, askedVersion = 0 }: Operation): ApiError {
  switch (error.code) {
    case 'exists':
      return alreadyExists(resource, name)
    case 'missing':
      return notFound(resource, name)
    case 'conflict':
      return conflict(resource, name, modifiedMeanwhile)
    case 'compacted':
      return expired(
        verb === 'watch'
          ? 'The resourceVersion for the provided watch is too old.'
          : 'The resourceVersion for the provided list is too old.',
        { cause: error },
      )
    case 'too-new':
      return tooLargeResourceVersion(askedVersion, error.bound ?? 0)
    case 'unavailable':
      return storageTimeout(resource, verb, error)
    case 'no-space':
      return unclassified('etcdserver: mvcc: database space exceeded', error)
    case 'too-large':
      return unclassified('etcdserver: request is too large', error)
    case 'corrupt':
      return internalError(error.message, error)
    case 'cancelled':
      return serviceUnavailable('the request was cancelled', error)
  }
}
