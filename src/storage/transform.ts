/**
 * What happens to a value between the server and the database: nothing (`identity`), or encryption. A transformer answers at
 * once where it can, so that the common path has no extra turn of the event loop; one that must ask a plugin gives a promise.
 * What the feed brings cannot wait: of a value that needs a promise the resource is listed again, so a transformer has to remember what it learned.
 */
import type { Key } from './engine.ts'
import { StorageError } from './errors.ts'

export type Plain = {
  readonly value: Buffer
  /** Written by other than the first key or provider: the next write must write it anew, even if nothing else changes. */
  readonly stale: boolean
}

export interface Transformer {
  /** `key` is the whole key: some ciphers bind a value to its place. */
  toStorage(key: Key, plain: Buffer): Buffer | Promise<Buffer>
  /** Fails with a StorageError 'corrupt' for what it cannot read; the message is upstream's, without the key. */
  fromStorage(key: Key, stored: Buffer): Plain | Promise<Plain>
}

const encryptedPrefix = Buffer.from('k8s:enc:')

const isEncrypted = (stored: Buffer): boolean =>
  // The first byte decides nearly always, and costs less than a comparison.
  stored[0] === 0x6b && stored.subarray(0, encryptedPrefix.length).equals(encryptedPrefix)

/** For resources without encryption. It refuses what an encrypting provider wrote rather than serving it as garbage. */
export const identity: Transformer = {
  toStorage: (_key, plain) => plain,
  fromStorage: (_key, stored) => {
    if (isEncrypted(stored)) throw new StorageError('corrupt', 'identity transformer tried to read encrypted data')
    return { value: stored, stale: false }
  },
}
