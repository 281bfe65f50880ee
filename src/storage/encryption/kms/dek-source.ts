/**
 * A source of data encryption keys of KMS v2: a seed, of which a key is derived for each value (HKDF-Expand with 32 random bytes that stand
 * before the value), or, in values of older servers, the key itself.
 */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Key } from '../../engine.ts'
import { AesGcm, GCM_OVERHEAD_BYTES, openOnce, sealOnce } from '../aes-gcm.ts'
import { tooShort, unreadable } from '../cipher.ts'
import type { Nonces } from '../nonces.ts'

const INFO_BYTES = 32
export const SEED_BYTES = 32
/** RFC 5869, section 2.3: the first block ends in the number 1, and is as long as the key. */
const FIRST_BLOCK = Buffer.from([1])

export const SEED_OVERHEAD_BYTES = INFO_BYTES + GCM_OVERHEAD_BYTES

export interface DekSource {
  open(sealed: Buffer, key: Key): Buffer
}

export class Seed implements DekSource {
  readonly #seed: KeyObject
  readonly #nonces: Nonces

  constructor(seed: KeyObject, nonces: Nonces) {
    this.#seed = seed
    this.#nonces = nonces
  }

  /** Writes into `target` from `at` on, which must have SEED_OVERHEAD_BYTES more than the value. Returns where it ends. */
  sealInto(target: Buffer, at: number, { plain, key }: { readonly plain: Buffer; readonly key: Key }): number {
    this.#nonces.fill(target, at, INFO_BYTES)
    const secret = this.#derive(target.subarray(at, at + INFO_BYTES))
    return sealOnce(target, at + INFO_BYTES, { plain, key, secret }, this.#nonces)
  }

  open(sealed: Buffer, key: Key): Buffer {
    if (sealed.length < INFO_BYTES) throw tooShort()
    return openOnce(sealed.subarray(INFO_BYTES), key, this.#derive(sealed.subarray(0, INFO_BYTES)))
  }

  #derive(info: Buffer): KeyObject {
    // A cipher takes a KeyObject in a third of the time that it takes for bytes.
    return createSecretKey(createHmac('sha256', this.#seed).update(info).update(FIRST_BLOCK).digest())
  }
}

/** Fails with a StorageError 'corrupt' if the plugin gave something else than a seed. */
export function seedOf(bytes: Buffer, nonces: Nonces): Seed {
  if (bytes.length < SEED_BYTES) throw unreadable(`invalid seed length ${bytes.length} used for key generation`)
  return new Seed(createSecretKey(bytes), nonces)
}

export function aesKeyOf(bytes: Buffer, nonces: Nonces): AesGcm {
  if (![16, 24, 32].includes(bytes.length)) throw unreadable(`crypto/aes: invalid key size ${bytes.length}`)
  return new AesGcm(createSecretKey(bytes), nonces)
}
