/**
 * Verifies the signatures of service account tokens. Digests of verified tokens are cached, because
 * verifying a signature is the slowest part of authenticating a token.
 */
import { hash } from 'node:crypto'
import { textOf } from '../../api/object.ts'
import { type Jwt, type JwtKey, verifyJwt } from '../../lib/jwt.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { ServiceAccountKeys } from './service-account-keys.ts'
import type { ParseToken } from './parse-token.ts'

const VERIFIED_MAX = 4096

export class ServiceAccountSignatures {
  readonly #issuers: readonly string[]
  readonly #keys: ServiceAccountKeys
  readonly #parse: ParseToken
  /**
   * Maps the digest of a token to the key that verified the token. An entry is valid only while the
   * key is still configured.
   */
  readonly #verified = new Map<string, JwtKey>()

  constructor(issuers: readonly string[], keys: ServiceAccountKeys, parse: ParseToken) {
    this.#issuers = issuers
    this.#keys = keys
    this.#parse = parse
  }

  /**
   * Parses a token, or returns undefined if it is not a token of these issuers. Do not trust the
   * claims before `verify` has succeeded.
   */
  parse(token: string): Jwt | undefined {
    const jwt = this.#parse(token)
    return jwt !== undefined && this.#issuers.includes(textOf(jwt.claims['iss'])) ? jwt : undefined
  }

  /**
   * Returns undefined if the signature is valid, otherwise the reason why it is not. Returns a
   * promise only if the keys have to be fetched from an external signer.
   */
  verify(token: string, jwt: Jwt): MaybePromise<string | undefined> {
    const keys = this.#keys.find(jwt.keyId)
    return keys instanceof Promise
      ? keys.then((found) => this.#check(token, jwt, found))
      : this.#check(token, jwt, keys)
  }

  #check(token: string, jwt: Jwt, keys: readonly JwtKey[]): string | undefined {
    if (keys.length === 0) return 'invalid signature, no keys found'
    const digest = hash('sha256', token, 'base64')
    const known = this.#verified.get(digest)
    if (known !== undefined && keys.includes(known)) return undefined
    const key = keys.find((one) => verifyJwt(jwt, one))
    if (key === undefined) return 'go-jose/go-jose: error in cryptographic primitive'
    this.#remember(digest, key)
    return undefined
  }

  /** Adds a digest. If the cache is full, evicts the oldest digest. */
  #remember(digest: string, key: JwtKey): void {
    const [oldest] = this.#verified.keys()
    if (this.#verified.size >= VERIFIED_MAX && oldest !== undefined) this.#verified.delete(oldest)
    this.#verified.set(digest, key)
  }
}
