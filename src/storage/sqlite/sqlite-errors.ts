/** Maps SQLite's errors to storage errors. */
import { messageOf } from '../../lib/errors.ts'
import { StorageError, type StorageErrorCode } from '../errors.ts'

/** SQLite's primary result codes. */
const BUSY = 5
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const NOTADB = 26

/** Returns the primary code of an error, which is the lowest byte of an extended code. */
const primaryCode = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) % 256 : 0

/** Returns the code of an error. For a failed commit, it is the code of `cause`. */
const codeIn = (error: unknown): number =>
  primaryCode(error) || (error instanceof Error ? primaryCode(error.cause) : 0)

/**
 * Whether there was no space for a write to the log. The frame that completes a commit is written
 * last, so the commit did not take effect. If a disk runs out of space only during a flush, SQLite
 * reports an I/O error instead.
 */
export const isFull = (error: unknown): boolean => codeIn(error) === FULL

type Failure = { readonly code: StorageErrorCode; readonly message: string }

export function failureOf(error: unknown): Failure {
  if (error instanceof StorageError) return { code: error.code, message: error.message }
  const why = messageOf(error)
  switch (codeIn(error)) {
    case FULL:
      return {
        code: 'no-space',
        message: `the disk of the store is full (${why}): nothing can be written`,
      }
    case BUSY:
      return {
        code: 'unavailable',
        message: `another program has locked the file of the store (${why}): stop that program`,
      }
    case READONLY:
    case IOERR:
    case CANTOPEN:
      return { code: 'unwritable', message: `the disk of the store fails or is read-only (${why})` }
    case CORRUPT:
    case NOTADB:
      return {
        code: 'corrupt',
        message: `the file of the store is damaged (${why}): restore a backup`,
      }
    default:
      return { code: 'unavailable', message: why }
  }
}
