/** What SQLite's failures mean to those who call the store. */
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

/** Extended codes have the primary one in their lowest byte. */
const primaryCode = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) % 256 : 0

/** `cause` of a failed commit has the code. */
const codeIn = (error: unknown): number =>
  primaryCode(error) || (error instanceof Error ? primaryCode(error.cause) : 0)

/**
 * A write to the log did not fit. The frame that would end the commit is the last one that is
 * written, so the commit is not there. (A disk that finds out only when it is flushed makes an
 * input/output error.)
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
        message: `another program has locked the file of the store (${why}): end it`,
      }
    case READONLY:
    case IOERR:
    case CANTOPEN:
      return { code: 'unwritable', message: `the disk of the store fails or is read-only (${why})` }
    case CORRUPT:
    case NOTADB:
      return {
        code: 'corrupt',
        message: `the file of the store is damaged (${why}): restore a copy`,
      }
    default:
      return { code: 'unavailable', message: why }
  }
}
