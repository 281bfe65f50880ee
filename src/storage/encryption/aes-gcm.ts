/** AES-GCM: a random nonce of 12 bytes, the ciphertext, a tag of 16 bytes. The key in etcd is authenticated along with the value. */
import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import type { Key } from '../engine.ts'
import { toBytes } from '../keys.ts'
import { type Cipher, tooShort, unreadable } from './cipher.ts'
import type { Nonces } from './nonces.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

type Algorithm = 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm'

const algorithms: ReadonlyMap<number, Algorithm> = new Map([
  [16, 'aes-128-gcm'],
  [24, 'aes-192-gcm'],
  [32, 'aes-256-gcm'],
])

export class AesGcm implements Cipher {
  readonly #secret: KeyObject
  readonly #algorithm: Algorithm
  readonly #nonces: Nonces

  constructor(secret: KeyObject, nonces: Nonces) {
    this.#secret = secret
    this.#algorithm = algorithms.get(secret.symmetricKeySize ?? 0) ?? 'aes-256-gcm'
    this.#nonces = nonces
  }

  seal(prefix: Buffer, plain: Buffer, key: Key): Buffer {
    const sealed = Buffer.allocUnsafe(prefix.length + NONCE_BYTES + plain.length + TAG_BYTES)
    prefix.copy(sealed)
    this.#nonces.fill(sealed, prefix.length, NONCE_BYTES)
    sealInto(sealed, prefix.length, { plain, key, algorithm: this.#algorithm, secret: this.#secret })
    return sealed
  }

  open(sealed: Buffer, key: Key): Buffer {
    return openGcm(sealed, key, this.#algorithm, this.#secret)
  }
}

type Sealing = {
  readonly plain: Buffer
  readonly key: Key
  readonly algorithm: Algorithm
  readonly secret: KeyObject
}

/** Writes ciphertext and tag behind the nonce that stands at `at`. Returns where they end. */
function sealInto(target: Buffer, at: number, { plain, key, algorithm, secret }: Sealing): number {
  const cipher = createCipheriv(algorithm, secret, target.subarray(at, at + NONCE_BYTES))
  cipher.setAAD(toBytes(key))
  // GCM is a stream: all of the ciphertext comes at once, and as many bytes as the plaintext has.
  target.set(cipher.update(plain), at + NONCE_BYTES)
  cipher.final()
  const tagAt = at + NONCE_BYTES + plain.length
  target.set(cipher.getAuthTag(), tagAt)
  return tagAt + TAG_BYTES
}

function openGcm(sealed: Buffer, key: Key, algorithm: Algorithm, secret: KeyObject): Buffer {
  if (sealed.length < NONCE_BYTES) throw tooShort()
  const tagAt = sealed.length - TAG_BYTES
  if (tagAt < NONCE_BYTES) throw unauthenticated()
  const options = { authTagLength: TAG_BYTES }
  const decipher = createDecipheriv(algorithm, secret, sealed.subarray(0, NONCE_BYTES), options)
  decipher.setAAD(toBytes(key)).setAuthTag(sealed.subarray(tagAt))
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, tagAt))
  try {
    decipher.final()
  } catch (cause) {
    throw unauthenticated(cause)
  }
  return plain
}

const unauthenticated = (cause?: unknown): Error => unreadable('cipher: message authentication failed', cause)

/** What AES-GCM adds to a value. */
export const GCM_OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES

/** For keys that a caller derives. `at`: where the nonce is to stand. */
export function sealWith(target: Buffer, at: number, value: KeyedValue, nonces: Nonces): number {
  nonces.fill(target, at, NONCE_BYTES)
  return sealInto(target, at, { ...value, algorithm: 'aes-256-gcm' })
}

export type KeyedValue = { readonly plain: Buffer; readonly key: Key; readonly secret: KeyObject }

export const openWith = (sealed: Buffer, key: Key, secret: KeyObject): Buffer =>
  openGcm(sealed, key, 'aes-256-gcm', secret)
