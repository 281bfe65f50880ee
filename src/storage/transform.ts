/**
 * Transforms values between the server and the database: not at all (`identity`), or by encryption
 * (encryption/). A transformer returns its result synchronously if it can, so that the common path
 * needs no extra tick of the event loop. A transformer that must call a plugin returns a promise
 * and caches what it learned. Events of the feed wait for that promise in order (opened-events.ts).
 */
import type { Key } from './engine.ts'
import { StorageError } from './errors.ts'

export type Plain = {
  readonly value: Buffer
  /**
   * Whether the value was not written with the first key or provider. The next write must then
   * write it again, even if nothing else changes.
   */
  readonly stale: boolean
}

export interface Transformer {
  /**
   * Converts a value for storage. `key` is the whole key: some ciphers authenticate it along with
   * the value. `plain` is kept, and must not change later.
   */
  toStorage(key: Key, plain: Buffer): Buffer | Promise<Buffer>
  /**
   * Converts a stored value back. `stored` is borrowed: an implementation that reads it after the
   * call has returned must copy it. Fails with a StorageError: 'corrupt' if the value cannot be
   * read, or 'sealed' if it cannot be read at the moment. The message is kube-apiserver's, without
   * the key.
   */
  fromStorage(key: Key, stored: Buffer): Plain | Promise<Plain>
  /**
   * Returns the plain value that this server wrote as `stored`, if it is still known. Such an event
   * need not be decrypted. Each write is returned only once.
   */
  takeOwn?(key: Key, stored: Buffer): Buffer | undefined
  /** Whether values of this key may be stale. Only the stored value shows whether it is. */
  canBeStale(key: Key): boolean
}

const encryptedPrefix = Buffer.from('k8s:enc:')

const isEncrypted = (stored: Buffer): boolean =>
  // The first byte nearly always decides, and is cheaper than a comparison.
  stored[0] === 0x6b && stored.subarray(0, encryptedPrefix.length).equals(encryptedPrefix)

/**
 * The transformer for resources without encryption. It refuses values that an encrypting provider
 * wrote, rather than serving them as garbage.
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
