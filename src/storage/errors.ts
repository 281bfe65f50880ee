/**
 * The failures of the database, as a small closed set. toApiError (request/verbs/storage-errors.ts)
 * maps them to ApiErrors.
 */
export type StorageErrorCode =
  | 'exists' // create: the key exists already
  | 'missing' // update, delete: the key does not exist; a write with a lease: the lease does not exist
  | 'conflict' // a precondition does not hold on the latest state
  | 'compacted' // the requested revision is compacted
  | 'too-new' // the requested revision has not happened yet
  | 'unavailable' // the database cannot be reached, or did not answer in time
  | 'busy' // too much of this kind is under way: worth another try in a moment
  | 'no-space' // the database refuses writes: its quota is used up
  | 'unwritable' // the database refuses writes: its disk fails, or is read-only
  | 'too-large' // the database refuses a value of this size, or its answer exceeds our limit
  | 'corrupt' // a stored value cannot be read
  | 'sealed' // a value cannot be encrypted or decrypted at the moment: the KMS plugin does not answer
  | 'cancelled' // the caller aborted the call

/** An object that cannot be read, and why. */
export type UnreadableObject = { readonly key: string; readonly error: StorageError }

export class StorageError extends Error {
  readonly code: StorageErrorCode
  /** Whether a write may have happened although it failed. */
  readonly ambiguous: boolean
  /** If known: with 'compacted' the oldest revision still kept, with 'too-new' the newest one. */
  readonly bound: number | undefined
  /** With 'corrupt': the revision of a value that can be decrypted, but not decoded. */
  readonly undecodableAt: number | undefined
  /** With 'corrupt', of a list: the objects because of which it failed. */
  readonly unread: (() => readonly UnreadableObject[]) | undefined

  constructor(code: StorageErrorCode, message: string, options: StorageErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'StorageError'
    this.code = code
    this.ambiguous = options.ambiguous ?? false
    this.bound = options.bound
    this.undecodableAt = options.undecodableAt
    this.unread = options.unread
  }
}

type StorageErrorOptions = {
  readonly cause?: unknown
  readonly ambiguous?: boolean
  readonly bound?: number
  readonly undecodableAt?: number
  readonly unread?: () => readonly UnreadableObject[]
}

export const isCode = (error: unknown, code: StorageErrorCode): boolean =>
  error instanceof StorageError && error.code === code
