/**
 * The kinds of database errors. toApiError (request/verbs/storage-errors.ts) maps them to
 * ApiErrors.
 */
export type StorageErrorCode =
  | 'exists' // create: the key exists already
  | 'missing' // update, delete: the key does not exist; a write with a lease: the lease does not exist
  | 'conflict' // a precondition does not hold for the latest state
  | 'compacted' // the requested revision is compacted
  | 'too-new' // the requested revision has not happened yet
  | 'unavailable' // the database cannot be reached, or did not respond in time
  | 'busy' // too many operations of this kind are in progress: retry in a moment
  | 'no-space' // the database refuses writes: its quota is used up
  | 'unwritable' // the database refuses writes: its disk fails, or is read-only
  | 'too-large' // the database refuses a value of this size, or its response exceeds our limit
  | 'corrupt' // a stored value cannot be read
  | 'sealed' // a value cannot be encrypted or decrypted now: the KMS plugin does not respond
  | 'cancelled' // the caller aborted the call

/** An object that cannot be read, and the reason. */
export type UnreadableObject = { readonly key: string; readonly error: StorageError }

export class StorageError extends Error {
  readonly code: StorageErrorCode
  /** Whether a failed write may have taken effect. */
  readonly ambiguous: boolean
  /**
   * If the code is 'compacted', the oldest revision that is available. If the code is 'too-new',
   * the latest revision. Undefined if unknown.
   */
  readonly bound: number | undefined
  /** The revision of a value that can be decrypted but not decoded. Only defined for 'corrupt'. */
  readonly undecodableAt: number | undefined
  /** Returns the objects that caused a list to fail. Only defined for 'corrupt'. */
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
