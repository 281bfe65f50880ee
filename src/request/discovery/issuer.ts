/**
 * The documents with which other programs verify ServiceAccount tokens (OpenID Connect Discovery
 * 1.0).
 */
import { createPublicKey } from 'node:crypto'
import type { JwtKey } from '../../lib/jwt.ts'
import type { Document } from './groups.ts'

export type Issuer = {
  readonly configuration: () => Document
  readonly keys: () => Document
  /** Returns the number of seconds for which clients can cache the documents. */
  readonly cacheSeconds: () => number
}

export type IssuerOptions = {
  readonly issuer: string
  readonly jwksUri: string
  /** Returns the current keys. With an external signer, they can change. */
  readonly keys: () => readonly JwtKey[]
  readonly cacheSeconds: () => number
}

/**
 * Returns the discovery document and the keys. Returns null if the issuer is not an HTTPS URL,
 * because other programs could not fetch them.
 */
export function issuerDocuments({
  issuer,
  jwksUri,
  keys,
  cacheSeconds,
}: IssuerOptions): Issuer | null {
  if (URL.parse(issuer)?.protocol !== 'https:') return null
  return {
    configuration: () => ({
      issuer,
      jwks_uri: jwksUri,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [
        ...new Set(keys().map(({ algorithm }) => algorithm)),
      ].toSorted(),
    }),
    keys: () => ({ keys: keys().map(jwk) }),
    cacheSeconds,
  }
}

function jwk({ key, algorithm, id }: JwtKey): Document {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key
  const { kty, crv, x, y, n, e } = publicKey.export({ format: 'jwk' })
  const parts = Object.entries({ use: 'sig', kty, kid: id, crv, alg: algorithm, x, y, n, e })
  return Object.fromEntries(parts.filter(([, value]) => value !== undefined))
}
