/**
 * The ciphers for encryption at rest. Each cipher has one key and uses the same byte layout as
 * kube-apiserver.
 */
import { StorageError } from '../errors.ts'
import type { Key } from '../engine.ts'

export interface Cipher {
  /** Encrypts a value. Returns `prefix`, followed by the encrypted value. */
  seal(prefix: Buffer, plain: Buffer, key: Key): Buffer
  /**
   * Decrypts the bytes that follow the prefix. Throws a StorageError with the code 'corrupt' if
   * they cannot be decrypted.
   */
  open(sealed: Buffer, key: Key): Buffer
}

/**
 * Returns the error for a value that cannot be decrypted. Clients receive the message, which is the
 * same as kube-apiserver's and reveals nothing about the key or the value.
 */
export const unreadable = (message: string, cause?: unknown): StorageError =>
  new StorageError('corrupt', message, cause === undefined ? {} : { cause })

export const tooShort = (): StorageError =>
  unreadable('the stored data was shorter than the required size')
