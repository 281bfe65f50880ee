/** The errors of reads that more than one file throws. */
import type { Revision } from '../engine.ts'
import { StorageError } from '../errors.ts'

/** The client has to list again. */
export const tooOld = (): StorageError =>
  new StorageError('compacted', 'the events after that revision are no longer kept')

export const tooNew = (revision: Revision, bound: Revision): StorageError =>
  new StorageError('too-new', `Too large resource version: ${revision}, current: ${bound}`, {
    bound,
  })
