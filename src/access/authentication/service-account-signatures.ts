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
   * The key that verified a token, by the digest of the token. An entry is valid only while its key
   * is still among the configured keys.
   */
  readonly #verified = new Map<string, JwtKey>()

  constructor(issuers: readonly string[], keys: ServiceAccountKeys, parse: ParseToken) {
    this.#issuers = issuers
    this.#keys = keys
    this.#parse = parse
  }

  /**
   * Parses a token, or returns undefined if it is not a token of these issuers. Do not trust its
   * claims before `verify`.
   */
  parse(token: string): Jwt | undefined {
    const jwt = this.#parse(token)
    return jwt !== undefined && this.#issuers.includes(textOf(jwt.claims['iss'])) ? jwt : undefined
  }

  /**
   * Returns undefined if the signature is valid, otherwise the reason. Returns a promise only if an
   * external signer has to be called for its keys.
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

  /** Adds a digest, and evicts the oldest one if the cache is full. */
  #remember(digest: string, key: JwtKey): void {
    const [oldest] = this.#verified.keys()
    if (this.#verified.size >= VERIFIED_MAX && oldest !== undefined) this.#verified.delete(oldest)
    this.#verified.set(digest, key)
  }
}
