/**
 * A source of data encryption keys for KMS v2. It is a seed from which keys are derived with
 * HKDF-Expand and 32 random bytes, which are stored before the value. In values that older servers
 * have written, the source is the key itself and not a seed. kube-apiserver derives a key for each
 * value. Here, consecutive values share a key, because deriving a key takes longer than encrypting
 * a value. Each value still has its own nonce.
 */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { LruCache } from '../../../lib/cache/lru-cache.ts'
import type { Key } from '../../engine.ts'
import { AesGcm, GCM_OVERHEAD_BYTES } from '../aes-gcm.ts'
import { tooShort, unreadable } from '../cipher.ts'
import type { RandomPool } from '../../../lib/bytes/random-pool.ts'

const INFO_BYTES = 32
export const SEED_BYTES = 32
/**
 * The last byte of the input for HKDF-Expand's first block (RFC 5869, section 2.3). Only one block
 * is needed, because a block is as long as the key.
 */
const FIRST_BLOCK = Buffer.from([1])

/**
 * Number of values that are encrypted with one derived key. Random nonces of 96 bits allow 2^32
 * values per key (NIST SP 800-38D, section 8.3). With this number, the probability that two nonces
 * are equal is 2^-77, and the cost of deriving keys is negligible.
 */
const VALUES_PER_KEY = 1024
/**
 * Maximum number of derived keys that are cached for reading. They are enough for a million values
 * written by Keelson.
 */
const KEPT_KEYS_MAX = 1024

export const SEED_OVERHEAD_BYTES = INFO_BYTES + GCM_OVERHEAD_BYTES

export interface DekSource {
  open(sealed: Buffer, key: Key): Buffer
}

export class Seed implements DekSource {
  readonly #seed: KeyObject
  readonly #nonces: RandomPool
  /** Derived keys, by the random bytes from which they were derived. */
  readonly #derived = new LruCache<AesGcm>(KEPT_KEYS_MAX)
  #writing: WritingKey | undefined

  constructor(seed: KeyObject, nonces: RandomPool) {
    this.#seed = seed
    this.#nonces = nonces
  }

  /**
   * Writes the encrypted value into `target`, starting at `at`. `target` must have room for the
   * value and SEED_OVERHEAD_BYTES more. Returns the index after the last byte written.
   */
  sealInto(target: Buffer, at: number, plain: Buffer, key: Key): number {
    const { info, cipher } = this.#writingKey()
    target.set(info, at)
    return cipher.sealInto(target, at + INFO_BYTES, plain, key)
  }

  open(sealed: Buffer, key: Key): Buffer {
    if (sealed.length < INFO_BYTES) throw tooShort()
    const info = sealed.subarray(0, INFO_BYTES)
    const name = info.toString('latin1')
    const cipher = this.#derived.get(name) ?? this.#keep(name, this.#derive(info))
    return cipher.open(sealed.subarray(INFO_BYTES), key)
  }

  #writingKey(): WritingKey {
    if (this.#writing !== undefined && this.#writing.values < VALUES_PER_KEY) {
      this.#writing.values++
      return this.#writing
    }
    const info = this.#nonces.take(INFO_BYTES)
    this.#writing = {
      info,
      cipher: this.#keep(info.toString('latin1'), this.#derive(info)),
      values: 1,
    }
    return this.#writing
  }

  #keep(name: string, cipher: AesGcm): AesGcm {
    this.#derived.set(name, cipher)
    return cipher
  }

  #derive(info: Buffer): AesGcm {
    const bytes = createHmac('sha256', this.#seed).update(info).update(FIRST_BLOCK).digest()
    // With a KeyObject, creating a cipher is faster than with bytes, and the key is not on the
    // JavaScript heap.
    const secret = createSecretKey(bytes)
    bytes.fill(0)
    return new AesGcm(secret, this.#nonces)
  }
}

/**
 * The key for the next values. `info` contains the random bytes from which the key is derived. They
 * are stored before each value.
 */
type WritingKey = { readonly info: Buffer; readonly cipher: AesGcm; values: number }

/** Creates a seed. Throws a StorageError 'corrupt' if the plugin returned too few bytes. */
export function seedOf(bytes: Buffer, nonces: RandomPool): Seed {
  if (bytes.length < SEED_BYTES)
    throw unreadable(`invalid seed length ${bytes.length} used for key generation`)
  return new Seed(createSecretKey(bytes), nonces)
}

export function aesKeyOf(bytes: Buffer, nonces: RandomPool): AesGcm {
  if (![16, 24, 32].includes(bytes.length))
    throw unreadable(`crypto/aes: invalid key size ${bytes.length}`)
  return new AesGcm(createSecretKey(bytes), nonces)
}
