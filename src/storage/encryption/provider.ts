/**
 * An encryption provider, as in EncryptionConfiguration. It decrypts stored values that begin with
 * its prefix. The provider for values that are not encrypted has an empty prefix.
 */
import type { KeyObject } from 'node:crypto'
import type { Key } from '../engine.ts'
import { isCode } from '../errors.ts'
import { identity, type Plain } from '../transform.ts'
import { AesCbc } from './aes-cbc.ts'
import { AesGcm } from './aes-gcm.ts'
import { type Cipher, unreadable } from './cipher.ts'
import { unreadableBy } from './failures.ts'
import type { RandomPool } from '../../lib/bytes/random-pool.ts'
import { loadSalsa, Secretbox } from './secretbox.ts'

export type Provider = {
  readonly prefix: Buffer
  /** Encrypts a value. Returns the bytes to store, including the prefix. */
  readonly seal: (key: Key, plain: Buffer) => Buffer | Promise<Buffer>
  /**
   * Decrypts `sealed`, which contains the bytes after the prefix. Throws or rejects with a
   * StorageError if the bytes cannot be decrypted ('corrupt'), or cannot be decrypted now
   * ('sealed').
   */
  readonly open: (key: Key, sealed: Buffer) => Plain | Promise<Plain>
}

export type NamedKey = { readonly name: string; readonly secret: KeyObject }

export type KeyedAlgorithm = 'aescbc' | 'aesgcm' | 'secretbox'

type CreateCipher = (secret: KeyObject, nonces: RandomPool) => Cipher

async function cipherOf(algorithm: KeyedAlgorithm): Promise<CreateCipher> {
  if (algorithm === 'aescbc') return (secret, nonces) => new AesCbc(secret, nonces)
  if (algorithm === 'aesgcm') return (secret, nonces) => new AesGcm(secret, nonces)
  const salsa = await loadSalsa()
  return (secret, nonces) => new Secretbox(secret, nonces, salsa)
}

/**
 * Creates a provider that encrypts with the first key. It decrypts a value with the keys that have
 * the name stored in the value.
 */
export async function keyedProvider(
  algorithm: KeyedAlgorithm,
  keys: readonly [NamedKey, ...NamedKey[]],
  nonces: RandomPool,
): Promise<Provider> {
  const create = await cipherOf(algorithm)
  const prefix = Buffer.from(`k8s:enc:${algorithm}:v1:`)
  const named = keys.map(({ name, secret }) => ({
    name: Buffer.from(`${name}:`),
    cipher: create(secret, nonces),
  }))
  const first = create(keys[0].secret, nonces)
  const writtenPrefix = Buffer.concat([prefix, Buffer.from(`${keys[0].name}:`)])
  const open = (key: Key, sealed: Buffer): Plain => {
    const errors: unknown[] = []
    for (const [at, { name, cipher }] of named.entries()) {
      if (!startsWith(sealed, name)) continue
      try {
        return { value: cipher.open(sealed.subarray(name.length), key), stale: at > 0 }
      } catch (error) {
        if (!isCode(error, 'corrupt')) throw error
        errors.push(error)
      }
    }
    throw unreadableBy(errors) ?? noSuchKey(algorithm)
  }
  return { prefix, seal: (key, plain) => first.seal(writtenPrefix, plain, key), open }
}

const noSuchKey = (algorithm: KeyedAlgorithm): Error =>
  unreadable(
    `no matching key was found for the provided ${algorithm === 'secretbox' ? 'Secretbox' : 'AES'} transformer`,
  )

export const identityProvider: Provider = {
  prefix: Buffer.alloc(0),
  seal: (_key, plain) => plain,
  open: (key, sealed) => identity.fromStorage(key, sealed),
}

/** Whether a value begins with a prefix. This is faster than comparing a subarray. */
export function startsWith(value: Buffer, prefix: Buffer): boolean {
  return (
    value.length >= prefix.length && value.compare(prefix, 0, prefix.length, 0, prefix.length) === 0
  )
}
