/**
 * Transforms values between the server and the database: not at all (`identity`), or by encryption. A transformer returns its
 * result synchronously if it can, so that the common path has no extra turn of the event loop; one that must call a plugin returns
 * a promise. Values from the feed cannot wait: if one needs a promise, the resource is listed again, so a transformer has to cache
 * what it learned.
 */
import type { Key } from './engine.ts'
import { StorageError } from './errors.ts'

export type Plain = {
  readonly value: Buffer
  /** Not written with the first key or provider: the next write must write it again, even if nothing else changes. */
  readonly stale: boolean
}

export interface Transformer {
  /** `key` is the whole key: some ciphers authenticate it along with the value. */
  toStorage(key: Key, plain: Buffer): Buffer | Promise<Buffer>
  /** Fails with a StorageError 'corrupt' for what it cannot read; the message is upstream's, without the key. */
  fromStorage(key: Key, stored: Buffer): Plain | Promise<Plain>
}

const encryptedPrefix = Buffer.from('k8s:enc:')

const isEncrypted = (stored: Buffer): boolean =>
  // The first byte nearly always decides, and is cheaper than a comparison.
  stored[0] === 0x6b && stored.subarray(0, encryptedPrefix.length).equals(encryptedPrefix)

/** For resources without encryption. It refuses what an encrypting provider wrote rather than serving it as garbage. */
export const identity: Transformer = {
  toStorage: (_key, plain) => plain,
  fromStorage: (_key, stored) => {
    if (isEncrypted(stored)) throw new StorageError('corrupt', 'identity transformer tried to read encrypted data')
    return { value: stored, stale: false }
  },
}
