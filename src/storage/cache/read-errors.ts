/** Read errors that are thrown in several files. */
import type { Revision } from '../engine.ts'
import { StorageError } from '../errors.ts'

/**
 * Returns the error for a watch whose events are no longer available. The client has to list again.
 */
export const tooOld = (bound?: Revision): StorageError =>
  new StorageError(
    'compacted',
    'the events after that revision are no longer kept',
    bound === undefined ? {} : { bound },
  )

export const tooNew = (revision: Revision, bound: Revision): StorageError =>
  new StorageError('too-new', `Too large resource version: ${revision}, current: ${bound}`, {
    bound,
  })
