/**
 * Transforms values between the server and the database: not at all (`identity`), or by encryption
 * (encryption/). A transformer returns its result synchronously if it can, so that the common path
 * has no extra turn of the event loop; one that must call a plugin returns a promise, and caches
 * what it learned. Events of the feed wait for it in their order (opened-events.ts).
 */
import type { Key } from './engine.ts'
import { StorageError } from './errors.ts'

export type Plain = {
  readonly value: Buffer
  /**
   * Not written with the first key or provider: the next write must write it again, even if nothing
   * else changes.
   */
  readonly stale: boolean
}

export interface Transformer {
  /**
   * `key` is the whole key: some ciphers authenticate it along with the value. `plain` is kept, and
   * must not change later.
   */
  toStorage(key: Key, plain: Buffer): Buffer | Promise<Buffer>
  /**
   * `stored` is borrowed: what is read after the call is a copy. Fails with a StorageError
   * 'corrupt' for what it cannot read, and 'sealed' for what it cannot read at the moment; the
   * message is upstream's, without the key.
   */
  fromStorage(key: Key, stored: Buffer): Plain | Promise<Plain>
  /**
   * What this server wrote as `stored`, if it is still known: such an event need not be decrypted.
   * Each write is known once.
   */
  takeOwn?(key: Key, stored: Buffer): Buffer | undefined
  /** Whether values of this key may be stale; only the stored value tells then whether it is. */
  canBeStale(key: Key): boolean
}

const encryptedPrefix = Buffer.from('k8s:enc:')

const isEncrypted = (stored: Buffer): boolean =>
  // The first byte nearly always decides, and is cheaper than a comparison.
  stored[0] === 0x6b && stored.subarray(0, encryptedPrefix.length).equals(encryptedPrefix)

/**
 * For resources without encryption. It refuses what an encrypting provider wrote rather than
 * serving it as garbage.
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
