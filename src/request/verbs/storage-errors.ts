/** Converts storage errors to API errors. */
import type { RequestContext } from '../../api/context.ts'
import {
  alreadyExists,
  type ApiError,
  conflict,
  deadlineExceeded,
  expired,
  internalError,
  modifiedMeanwhile,
  notFound,
  type ResourceName,
  serviceUnavailable,
  type StatusCause,
  storageReadError,
  storageTimeout,
  tooLargeResourceVersion,
  tooManyRequests,
  unclassified,
} from '../../api/errors.ts'
import { isEvents } from '../../api/events.ts'
import { readVerbs } from '../../api/verbs.ts'
import { StorageError, type UnreadableObject } from '../../storage/errors.ts'
import { toText } from '../../storage/keys.ts'

/**
 * Delay in seconds that clients are asked to wait. Operations that overload the storage take a few
 * seconds at most.
 */
const RETRY_AFTER_SECONDS = 1

export type StorageOperation = {
  readonly resource: ResourceName
  /** Name of the object. Empty for lists and watches. */
  readonly name: string
  /** The verb in error messages, such as get, list or create. */
  readonly verb: string
  /** The resourceVersion in the request, if any. */
  readonly askedVersion?: number
  /**
   * The key of the object. Empty for lists. Present only if error messages contain the keys of
   * unreadable objects (feature gate AllowUnsafeMalformedObjectDeletion).
   */
  readonly corruptKey?: string | undefined
  /** Finds the unreadable objects of a list, if the error does not contain them. */
  readonly unread?: (() => readonly UnreadableObject[]) | undefined
}

/**
 * Maximum number of unreadable objects in a Status, as in kube-apiserver. If there are more, the
 * Status states that the list is truncated.
 */
export const UNREAD_MAX = 100

/**
 * Runs the operation and converts its storage errors. If the request timed out, the error reports
 * this.
 */
export async function translated<T>(
  context: RequestContext,
  operation: StorageOperation,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw toApiError(context, operation, error)
  }
}

/** Converts a storage error. Other errors are returned unchanged. */
export function toApiError(
  context: RequestContext,
  operation: StorageOperation,
  error: unknown,
): unknown {
  if (!(error instanceof StorageError)) return error
  return error.code === 'cancelled' ? cancelled(context, error) : fromStorage(error, operation)
}

export type RequestSignal = Pick<RequestContext, 'signal'>

/** Fails if the client no longer waits for the response. Long reads call this between steps. */
export function checkWaiting(context: RequestSignal): void {
  if (context.signal.aborted) throw cancelled(context)
}

/**
 * Returns the error for a request that was canceled or timed out while an operation was running.
 */
export const cancelled = (context: RequestSignal, cause?: unknown): ApiError =>
  isTimeUp(context)
    ? deadlineExceeded(cause)
    : serviceUnavailable('the request was cancelled', cause)

function isTimeUp({ signal }: RequestSignal): boolean {
  return (
    signal.aborted && signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
  )
}

export function fromStorage(
  error: StorageError,
  { resource, name, verb, askedVersion = 0, corruptKey, unread }: StorageOperation,
): ApiError {
  switch (error.code) {
    case 'exists':
      return alreadyExists(resource, name)
    case 'missing':
      return notFound(resource, name)
    case 'conflict':
      return conflict(resource, name, modifiedMeanwhile)
    case 'compacted':
      return expired(tooOld(error, { resource, name, verb, askedVersion }), { cause: error })
    case 'too-new':
      return tooLargeResourceVersion(askedVersion, error.bound ?? 0, {
        retries: !isEvents(resource),
      })
    case 'unavailable':
      // Clients must not retry a write that might have succeeded. For example, a repeated delete
      // would fail with NotFound.
      return storageTimeout(resource, verb, {
        retries: !error.ambiguous || readVerbs.has(verb),
        cause: error,
      })
    case 'busy':
      return tooManyRequests(error.message, RETRY_AFTER_SECONDS)
    case 'no-space':
    case 'unwritable':
      return unclassified(error.message, error)
    case 'too-large':
      return unclassified('etcdserver: request is too large', error)
    case 'corrupt':
      return corrupt(error, { resource, name, verb, corruptKey, unread })
    case 'sealed':
      return internalError(error.message, error)
    case 'cancelled':
      return serviceUnavailable('the request was cancelled', error)
  }
}

/**
 * Returns kube-apiserver's error for an unreadable object. The message depends on whether such
 * objects can be deleted.
 */
function corrupt(
  error: StorageError,
  { resource, verb, corruptKey, unread }: StorageOperation,
): ApiError {
  const isDecrypted = error.undecodableAt !== undefined
  if (corruptKey === undefined)
    return isDecrypted ? unclassified(error.message, error) : internalError(error.message, error)
  if (verb === 'list')
    return storageReadError(resource, causesOf(error.unread?.() ?? unread?.() ?? []), error)
  if (verb === 'get' || verb === 'delete')
    return internalError(corruptObject(corruptKey, error), error)
  const why = whyUnread(error)
  return isDecrypted ? unclassified(why, error) : internalError(why, error)
}

const corruptObject = (key: string, error: StorageError): string =>
  `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${whyUnread(error)}`

const whyUnread = ({ message, undecodableAt }: StorageError): string =>
  undecodableAt === undefined
    ? `data from the storage is not transformable revision=0: ${message}`
    : `object not decodable revision=${undecodableAt}: ${message}`

function causesOf(unread: readonly UnreadableObject[]): StatusCause[] {
  const causes: StatusCause[] = unread.slice(0, UNREAD_MAX).map(({ key, error }) => {
    const field = toText(key)
    return { reason: 'UnexpectedServerResponse', message: corruptObject(field, error), field }
  })
  if (unread.length > UNREAD_MAX)
    causes.push({ reason: 'TooMany', message: 'too many errors, the list is truncated' })
  return causes
}

/**
 * Returns the message for an expired resourceVersion. For watches, kube-apiserver reports the
 * oldest version in its watch cache. It has no watch cache for Events, so their message comes from
 * etcd storage.
 */
function tooOld(
  { bound = 1 }: StorageError,
  { resource, verb, askedVersion = 0 }: StorageOperation,
): string {
  if (verb !== 'watch') return 'The resourceVersion for the provided list is too old.'
  if (isEvents(resource)) return 'The resourceVersion for the provided watch is too old.'
  return `too old resource version: ${askedVersion} (${bound - 1})`
}
