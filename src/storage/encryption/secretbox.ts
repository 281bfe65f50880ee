/**
 * NaCl's secretbox (XSalsa20-Poly1305). A value consists of a random nonce of 24 bytes, a tag of 16
 * bytes, and the ciphertext.
 */
import type { xsalsa20poly1305 } from '@noble/ciphers/salsa.js'
import type { KeyObject } from 'node:crypto'
import type { Key } from '../engine.ts'
import { type Cipher, tooShort, unreadable } from './cipher.ts'
import type { RandomPool } from '../../lib/bytes/random-pool.ts'

const NONCE_BYTES = 24

export type Salsa = typeof xsalsa20poly1305

/**
 * Loads Salsa20, which Node.js does not include. It is loaded on demand, because few configurations
 * need it.
 */
export const loadSalsa = async (): Promise<Salsa> =>
  (await import('@noble/ciphers/salsa.js')).xsalsa20poly1305

export class Secretbox implements Cipher {
  /** The key is stored in a Buffer, because heap snapshots do not contain the bytes of Buffers. */
  readonly #secret: Buffer
  readonly #nonces: RandomPool
  readonly #salsa: Salsa

  constructor(secret: KeyObject, nonces: RandomPool, salsa: Salsa) {
    this.#secret = secret.export()
    this.#nonces = nonces
    this.#salsa = salsa
  }

  seal(prefix: Buffer, plain: Buffer): Buffer {
    const nonce = this.#nonces.next(NONCE_BYTES)
    return Buffer.concat([prefix, nonce, this.#salsa(this.#secret, nonce).encrypt(plain)])
  }

  open(sealed: Buffer, _key: Key): Buffer {
    if (sealed.length < NONCE_BYTES) throw tooShort()
    try {
      const opened = this.#salsa(this.#secret, sealed.subarray(0, NONCE_BYTES)).decrypt(
        sealed.subarray(NONCE_BYTES),
      )
      return Buffer.from(opened.buffer, opened.byteOffset, opened.byteLength)
    } catch (cause) {
      // kube-apiserver reports this error for every value that cannot be decrypted.
      throw unreadable('output array was not large enough for encryption', cause)
    }
  }
}
