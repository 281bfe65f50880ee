/**
 * AES-GCM. A value consists of a random nonce of 12 bytes, the ciphertext, and a tag of 16 bytes.
 * The etcd key of the value is authenticated together with the value.
 */
import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import type { Key } from '../engine.ts'
import { toBytes } from '../keys.ts'
import { type Cipher, tooShort, unreadable } from './cipher.ts'
import type { RandomPool } from '../../lib/bytes/random-pool.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Number of bytes that AES-GCM adds to a value. */
export const GCM_OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES

type Algorithm = 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm'

const algorithms: ReadonlyMap<number, Algorithm> = new Map([
  [16, 'aes-128-gcm'],
  [24, 'aes-192-gcm'],
  [32, 'aes-256-gcm'],
])

export class AesGcm implements Cipher {
  readonly #secret: KeyObject
  readonly #algorithm: Algorithm
  readonly #nonces: RandomPool

  constructor(secret: KeyObject, nonces: RandomPool) {
    this.#secret = secret
    this.#algorithm = algorithms.get(secret.symmetricKeySize ?? 0) ?? 'aes-256-gcm'
    this.#nonces = nonces
  }

  seal(prefix: Buffer, plain: Buffer, key: Key): Buffer {
    const sealed = Buffer.allocUnsafe(prefix.length + plain.length + GCM_OVERHEAD_BYTES)
    sealed.set(prefix)
    this.sealInto(sealed, prefix.length, plain, key)
    return sealed
  }

  /**
   * Writes the encrypted value into `target`, starting at `at`. `target` must have room for the
   * value and GCM_OVERHEAD_BYTES more. Returns the index after the last byte written.
   */
  sealInto(target: Buffer, at: number, plain: Buffer, key: Key): number {
    const nonce = this.#nonces.next(NONCE_BYTES)
    const cipher = createCipheriv(this.#algorithm, this.#secret, nonce)
    target.set(nonce, at)
    cipher.setAAD(toBytes(key))
    // GCM needs no padding: `update` returns the whole ciphertext, which is as long as the
    // plaintext.
    target.set(cipher.update(plain), at + NONCE_BYTES)
    cipher.final()
    const tagAt = at + NONCE_BYTES + plain.length
    target.set(cipher.getAuthTag(), tagAt)
    return tagAt + TAG_BYTES
  }

  open(sealed: Buffer, key: Key): Buffer {
    if (sealed.length < NONCE_BYTES) throw tooShort()
    const tagAt = sealed.length - TAG_BYTES
    if (tagAt < NONCE_BYTES) throw unauthenticated()
    const nonce = sealed.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv(this.#algorithm, this.#secret, nonce, {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(toBytes(key)).setAuthTag(sealed.subarray(tagAt))
    const plain = decipher.update(sealed.subarray(NONCE_BYTES, tagAt))
    try {
      decipher.final()
    } catch (cause) {
      throw unauthenticated(cause)
    }
    return plain
  }
}

const unauthenticated = (cause?: unknown): Error =>
  unreadable('cipher: message authentication failed', cause)
