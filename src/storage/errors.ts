/**
 * What can go wrong in the database, as a small closed set. It becomes an ApiError in one place: toApiError below.
 */
export type StorageErrorCode =
  | 'exists' // create: the key is there already
  | 'missing' // update, delete: the key is not there; a write with a lease: the lease is not there
  | 'conflict' // a precondition does not hold on the latest state
  | 'compacted' // the revision asked for is no longer kept
  | 'too-new' // the revision asked for has not happened yet
  | 'unavailable' // the database cannot be reached, or did not answer in time
  | 'busy' // too much of this kind is under way: worth another try in a moment
  | 'no-space' // the database refuses writes: its quota is used up
  | 'too-large' // the database refuses a value of this size
  | 'corrupt' // a stored value cannot be read
  | 'cancelled' // the caller went away

export class StorageError extends Error {
  readonly code: StorageErrorCode
  /** Whether a write may have happened although it failed. */
  readonly ambiguous: boolean
  /** Where known: with 'compacted' the oldest revision still kept, with 'too-new' the newest there is. */
  readonly bound: number | undefined

  constructor(
    code: StorageErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly ambiguous?: boolean; readonly bound?: number } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'StorageError'
    this.code = code
    this.ambiguous = options.ambiguous ?? false
    this.bound = options.bound
  }
}

export const isCode = (error: unknown, code: StorageErrorCode): boolean =>
  error instanceof StorageError && error.code === code
