/**
 * The ciphers of encryption at rest. Each has one key and the same byte layout as in
 * kube-apiserver.
 */
import { StorageError } from '../errors.ts'
import type { Key } from '../engine.ts'

export interface Cipher {
  /** Encrypts a value. Returns `prefix`, followed by the encrypted value. */
  seal(prefix: Buffer, plain: Buffer, key: Key): Buffer
  /** Decrypts the bytes that follow the prefix. Fails with a StorageError 'corrupt'. */
  open(sealed: Buffer, key: Key): Buffer
}

/**
 * The error for a value that cannot be decrypted. Clients see the message, which is
 * kube-apiserver's. No message reveals anything about a key or a value.
 */
export const unreadable = (message: string, cause?: unknown): StorageError =>
  new StorageError('corrupt', message, cause === undefined ? {} : { cause })

export const tooShort = (): StorageError =>
  unreadable('the stored data was shorter than the required size')
