/**
 * JSON Web Tokens (RFC 7519) that are signed with RSA or elliptic curves (RFC 7518, sections 3.3
 * and 3.4).
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { pem } from './x509/der.ts'
import { decodePem } from './x509/pem.ts'

export type JwtKey = {
  readonly key: KeyObject
  readonly algorithm: Algorithm
  /** The `kid` in the header of a token: the digest of the public key. */
  readonly id: string
}

type Algorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512'

const digests: { readonly [algorithm in Algorithm]: string } = {
  RS256: 'sha256',
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
}

const curves: ReadonlyMap<string | undefined, Algorithm> = new Map([
  ['prime256v1', 'ES256'],
  ['secp384r1', 'ES384'],
  ['secp521r1', 'ES512'],
])

/**
 * Reads a private key in PEM. Returns undefined if the text is not a private key, or if JWTs do not
 * support this type of key.
 */
export function readSigningKey(text: string): JwtKey | undefined {
  const key = orUndefined(() => createPrivateKey(text))
  return key && jwtKeyOf(key)
}

/**
 * Returns the public keys in a PEM file. The file can contain several keys, including private keys,
 * and certificates.
 */
export function readVerifyingKeys(text: string): JwtKey[] {
  return decodePem(text).flatMap(({ label, bytes }) => {
    const key = orUndefined(() => createPublicKey(pem(label, bytes)))
    return (key && jwtKeyOf(key)) ?? []
  })
}

/**
 * Reads a public key. `der` is a SubjectPublicKeyInfo, and `id` is the `kid` of tokens that the key
 * signs. Returns undefined if it is not a key, or if JWTs do not support this type of key.
 */
export function publicJwtKey(der: Buffer, id: string): JwtKey | undefined {
  const key = orUndefined(() => createPublicKey({ key: der, format: 'der', type: 'spki' }))
  const read = key && jwtKeyOf(key)
  return read && { ...read, id }
}

function orUndefined(read: () => KeyObject): KeyObject | undefined {
  try {
    return read()
  } catch {
    // The error of OpenSSL is dropped. The caller reports which file is not valid.
    return undefined
  }
}

function jwtKeyOf(key: KeyObject): JwtKey | undefined {
  const isRsa = key.asymmetricKeyType === 'rsa'
  const algorithm = isRsa ? 'RS256' : curves.get(key.asymmetricKeyDetails?.namedCurve)
  if (algorithm === undefined) return undefined
  const publicKey = key.type === 'private' ? createPublicKey(key) : key
  const der = publicKey.export({ type: 'spki', format: 'der' })
  return { key, algorithm, id: createHash('sha256').update(der).digest('base64url') }
}

export function signJwt(claims: object, { key, algorithm, id }: JwtKey): string {
  const signed = `${encode({ alg: algorithm, kid: id })}.${encode(claims)}`
  const signature = sign(digests[algorithm], Buffer.from(signed), {
    key,
    dsaEncoding: 'ieee-p1363',
  })
  return `${signed}.${signature.toString('base64url')}`
}

/** A JSON value. The type is declared here again, because lib/ must not import it from api/. */
type JsonValue = string | number | bigint | boolean | null | readonly JsonValue[] | JsonFields
type JsonFields = { readonly [name: string]: JsonValue | undefined }

/** Parses JSON. Throws if the bytes are not JSON. */
export type ParseJson = (bytes: Buffer) => JsonValue

export type Jwt = {
  /** The `kid` in the header. Empty if the header has no `kid`. */
  readonly keyId: string
  readonly algorithm: string
  /**
   * Whether the header has `crit` (RFC 7515, section 4.1.11). No extension is supported, so such a
   * token is rejected.
   */
  readonly hasCritical: boolean
  readonly claims: JsonFields
  readonly signed: string
  readonly signature: Buffer
}

/**
 * Parses a token without verifying it. The claims must not be trusted before `verifyJwt`. Returns
 * undefined if the text is not a JWT. The signature can be empty, but then no key verifies the
 * token.
 */
export function parseJwt(token: string, parseJson: ParseJson): Jwt | undefined {
  const parts = token.split('.', 4)
  const [head = '', body = '', signature = ''] = parts
  if (parts.length !== 3 || head === '' || body === '') return undefined
  if (![head, body, signature].every(isBase64Url)) return undefined
  const [header, claims] = [head, body].map((part) => decode(part, parseJson))
  if (header === undefined || claims === undefined) return undefined
  const { kid: keyId = '', alg: algorithm = '', crit } = header
  if (typeof keyId !== 'string' || typeof algorithm !== 'string') return undefined
  return {
    keyId,
    algorithm,
    hasCritical: crit !== undefined,
    claims,
    signed: `${head}.${body}`,
    signature: Buffer.from(signature, 'base64url'),
  }
}

/**
 * Whether the key verifies the token. The key determines the algorithm, so a token that names
 * another algorithm is rejected.
 */
export function verifyJwt(jwt: Jwt, { key, algorithm }: JwtKey): boolean {
  if (jwt.hasCritical || jwt.algorithm !== algorithm) return false
  return verify(
    digests[algorithm],
    Buffer.from(jwt.signed),
    { key, dsaEncoding: 'ieee-p1363' },
    jwt.signature,
  )
}

/**
 * Whether a part of a token is base64url without padding. Node's decoder is less strict: it ignores
 * invalid characters, accepts the standard alphabet, and drops an incomplete group at the end.
 */
const isBase64Url = (part: string): boolean =>
  part.length % 4 !== 1 && /^[A-Za-z0-9_-]*$/.test(part)

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function decode(part: string, parseJson: ParseJson): JsonFields | undefined {
  try {
    const value = parseJson(Buffer.from(part, 'base64url'))
    return isFields(value) ? value : undefined
  } catch {
    // The text has three parts, but it is not a JWT.
    return undefined
  }
}

const isFields = (value: JsonValue): value is JsonFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
