/**
 * AES-CBC. A value consists of a random initialization vector of 16 bytes and the ciphertext with
 * PKCS#7 padding. Neither the value nor its key in etcd is authenticated.
 */
import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import type { Key } from '../engine.ts'
import { type Cipher, tooShort, unreadable } from './cipher.ts'
import type { RandomPool } from '../../lib/bytes/random-pool.ts'

const BLOCK_BYTES = 16

export class AesCbc implements Cipher {
  readonly #secret: KeyObject
  readonly #algorithm: string
  readonly #nonces: RandomPool

  constructor(secret: KeyObject, nonces: RandomPool) {
    this.#secret = secret
    this.#algorithm = `aes-${(secret.symmetricKeySize ?? 0) * 8}-cbc`
    this.#nonces = nonces
  }

  seal(prefix: Buffer, plain: Buffer): Buffer {
    const vector = this.#nonces.next(BLOCK_BYTES)
    const cipher = createCipheriv(this.#algorithm, this.#secret, vector)
    return Buffer.concat([prefix, vector, cipher.update(plain), cipher.final()])
  }

  open(sealed: Buffer, _key: Key): Buffer {
    if (sealed.length < BLOCK_BYTES) throw tooShort()
    const body = sealed.subarray(BLOCK_BYTES)
    if (body.length % BLOCK_BYTES !== 0)
      throw unreadable('the stored data is not a multiple of the block size')
    const decipher = createDecipheriv(
      this.#algorithm,
      this.#secret,
      sealed.subarray(0, BLOCK_BYTES),
    )
    decipher.setAutoPadding(false)
    const padded = decipher.update(body)
    decipher.final()
    return withoutPadding(padded)
  }
}

/**
 * Removes the padding of a decrypted value. As in kube-apiserver, the padding can be longer than a
 * block.
 */
function withoutPadding(padded: Buffer): Buffer {
  const size = padded.at(-1) ?? 0
  if (size === 0 || size > padded.length)
    throw unreadable('invalid PKCS7 data (empty or not padded)')
  const end = padded.length - size
  let difference = 0
  for (let at = end; at < padded.length; at++) difference |= (padded[at] ?? 0) ^ size
  if (difference !== 0) throw unreadable('invalid padding on input')
  return padded.subarray(0, end)
}
