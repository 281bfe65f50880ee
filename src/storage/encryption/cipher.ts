/**
 * The ciphers of encryption at rest: each has one key, and a layout of bytes that is upstream's.
 */
import { StorageError } from '../errors.ts'
import type { Key } from '../engine.ts'

export interface Cipher {
  /** `prefix`, followed by the encrypted value. */
  seal(prefix: Buffer, plain: Buffer, key: Key): Buffer
  /** Reads what follows the prefix. Fails with a StorageError 'corrupt'. */
  open(sealed: Buffer, key: Key): Buffer
}

/** Upstream's messages are what clients see. None of them tells anything of a key or a value. */
export const unreadable = (message: string, cause?: unknown): StorageError =>
  new StorageError('corrupt', message, cause === undefined ? {} : { cause })

export const tooShort = (): StorageError =>
  unreadable('the stored data was shorter than the required size')
