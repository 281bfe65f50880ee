/**
 * Transforms values between the server and the database. The transformation is either encryption
 * (encryption/) or none (`identity`). A transformer returns its result synchronously if possible,
 * so that most calls need no extra tick of the event loop. A transformer that must call a KMS
 * plugin returns a promise and caches the result. Events of the event feed wait for this promise in
 * order (opened-events.ts).
 */
import type { Key } from './engine.ts'
import { StorageError } from './errors.ts'

export type Plain = {
  readonly value: Buffer
  /**
   * Whether the value was not encrypted with the first key or provider. The next write must then
   * write it again, even if nothing else changes.
   */
  readonly stale: boolean
}

export interface Transformer {
  /**
   * Converts a value for storage. `key` is the whole key, because some ciphers authenticate it
   * together with the value. `plain` is retained and must not be changed later.
   */
  toStorage(key: Key, plain: Buffer): Buffer | Promise<Buffer>
  /**
   * Converts a stored value back. `stored` is a view of received bytes. An implementation that
   * reads it after this call has returned must copy it. Throws or rejects with a StorageError:
   * 'corrupt' if the value cannot be read, or 'sealed' if it cannot be read now. The message is
   * kube-apiserver's, without the key.
   */
  fromStorage(key: Key, stored: Buffer): Plain | Promise<Plain>
  /**
   * Returns the plaintext of a value that this server has recently written as `stored`. An event
   * with this value does not have to be decrypted. Each write is returned only once.
   */
  takeOwn?(key: Key, stored: Buffer): Buffer | undefined
  /**
   * Whether a value of this key may be stale, which means that it is not encrypted with the current
   * key. Only the stored value itself shows whether it is.
   */
  canBeStale(key: Key): boolean
}

const encryptedPrefix = Buffer.from('k8s:enc:')

const isEncrypted = (stored: Buffer): boolean =>
  // Check the first byte first. It nearly always shows that the value is not encrypted, and
  // checking it is faster than comparing the whole prefix.
  stored[0] === 0x6b && stored.subarray(0, encryptedPrefix.length).equals(encryptedPrefix)

/**
 * The transformer for resources without encryption. It rejects values that an encryption provider
 * wrote, so that they are not served as plaintext.
 */
export const identity: Transformer = {
  toStorage: (_key, plain) => plain,
  fromStorage: (_key, stored) => {
    if (isEncrypted(stored))
      throw new StorageError('corrupt', 'identity transformer tried to read encrypted data')
    return { value: stored, stale: false }
  },
  canBeStale: () => false,
}
