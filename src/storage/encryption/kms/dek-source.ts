/**
 * A source of data encryption keys of KMS v2: a seed, of which keys are derived (HKDF-Expand with
 * 32 random bytes that stand before the value), or, in values of older servers, the key itself.
 * Upstream derives a key for each value; here some values in a row share one, since to derive it
 * takes longer than to encrypt. Each has a nonce of its own all the same.
 */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { LruCache } from '../../../lib/cache/lru-cache.ts'
import type { Key } from '../../engine.ts'
import { AesGcm, GCM_OVERHEAD_BYTES } from '../aes-gcm.ts'
import { tooShort, unreadable } from '../cipher.ts'
import type { RandomPool } from '../../../lib/bytes/random-pool.ts'

const INFO_BYTES = 32
export const SEED_BYTES = 32
/** RFC 5869, section 2.3: the first block ends in the number 1, and is as long as the key. */
const FIRST_BLOCK = Buffer.from([1])

/**
 * Values that are written with one derived key. Random nonces of 96 bits allow 2^32 (NIST SP
 * 800-38D, section 8.3); so few of them meet with a probability of 2^-77, and derivation is already
 * no part of the cost.
 */
const VALUES_PER_KEY = 1024
/**
 * Derived keys that are kept for reading: those of a million values that this kind of server wrote.
 */
const KEPT_KEYS_MAX = 1024

export const SEED_OVERHEAD_BYTES = INFO_BYTES + GCM_OVERHEAD_BYTES

export interface DekSource {
  open(sealed: Buffer, key: Key): Buffer
}

export class Seed implements DekSource {
  readonly #seed: KeyObject
  readonly #nonces: RandomPool
  /** By what they are derived with. */
  readonly #derived = new LruCache<AesGcm>(KEPT_KEYS_MAX)
  #writing: WritingKey | undefined

  constructor(seed: KeyObject, nonces: RandomPool) {
    this.#seed = seed
    this.#nonces = nonces
  }

  /**
   * Writes into `target` from `at` on, which must have SEED_OVERHEAD_BYTES more than the value.
   * Returns where it ends.
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
    // A cipher takes a KeyObject in a third of the time that it takes for bytes; and it is not in
    // the heap.
    const secret = createSecretKey(bytes)
    bytes.fill(0)
    return new AesGcm(secret, this.#nonces)
  }
}

/** `info`: what the key is derived with, which stands before the value. */
type WritingKey = { readonly info: Buffer; readonly cipher: AesGcm; values: number }

/** Fails with a StorageError 'corrupt' if the plugin gave something else than a seed. */
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
