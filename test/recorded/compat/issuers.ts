/**
 * OpenID issuers with fixed keys. Creates their discovery and JWKS documents, and tokens with any
 * content, which are signed with these keys or unsigned.
 */
import { createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from './json.ts'

export type IssuerOptions = {
  /**
   * Names of the keys from fixtures/issuer-keys.json that the JWKS contains. Defaults to rsa and
   * ec.
   */
  readonly keys?: readonly string[]
  /**
   * Changes to the discovery document. References such as `${issuer.name}` in the changes are
   * replaced. Null removes a field.
   */
  readonly discovery?: Readonly<Record<string, unknown>>
}

export type TokenOptions = {
  /**
   * Name of the issuer whose URL becomes the claim `iss`. If it is missing, `claims` must contain
   * `iss`.
   */
  readonly issuer?: string
  /**
   * Changes to the default claims, which are `iss`, `sub` ($ns-u), `aud` (compat), `iat` and `exp`.
   * Null removes a claim.
   */
  readonly claims?: Readonly<Record<string, unknown>>
  /**
   * Key from fixtures/issuer-keys.json, or `service-account` for the server's own key. Defaults to
   * rsa.
   */
  readonly key?: string
  /**
   * Signature algorithm. Defaults to RS256 or ES256. `none` creates a token without a signature;
   * HS256 uses the public key in PEM format as the secret.
   */
  readonly alg?: string
  /** Changes to the header fields alg and kid. Null removes a field. */
  readonly header?: Readonly<Record<string, unknown>>
  /**
   * Values of `exp`, `nbf` and `iat` in seconds from now. By default, `exp` is 600, `iat` is 0, and
   * `nbf` is missing.
   */
  readonly expIn?: number
  readonly nbfIn?: number
  readonly iatIn?: number
}

const DEFAULT_LIFETIME_S = 600

export class IssuerKeys {
  readonly #keys: ReadonlyMap<string, KeyObject>

  constructor(more: ReadonlyMap<string, KeyObject> = new Map()) {
    const path = join(import.meta.dirname, 'fixtures', 'issuer-keys.json')
    const jwks: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (!isRecord(jwks)) throw new Error(`${path} does not map names to keys`)
    const read = Object.entries(jwks).map(
      ([name, pem]) => [name, createPrivateKey(String(pem))] as const,
    )
    this.#keys = new Map([...read, ...more])
  }

  get(name: string): KeyObject {
    const key = this.#keys.get(name)
    if (key === undefined)
      throw new Error(`there is no key ${name}; the keys are ${[...this.#keys.keys()].join(', ')}`)
    return key
  }
}

/** Returns the documents of an issuer by their path below the issuer's URL. */
export function issuerDocuments(
  url: string,
  { keys = ['rsa', 'ec'], discovery = {} }: IssuerOptions,
  all: IssuerKeys,
): Record<string, unknown> {
  return {
    '/.well-known/openid-configuration': without({
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/keys`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256'],
      ...discovery,
    }),
    '/keys': {
      keys: keys.map((name) => {
        const jwk = createPublicKey(all.get(name)).export({ format: 'jwk' })
        return { ...jwk, kid: name, use: 'sig', alg: algorithmOf(all.get(name)) }
      }),
    },
  }
}

/** Creates a token. `url` is the URL of the issuer, and `subject` is the default of `sub`. */
export function makeToken(
  options: TokenOptions,
  {
    url,
    subject,
    key,
  }: { readonly url: string; readonly subject: string; readonly key: KeyObject },
): string {
  const now = Math.floor(Date.now() / 1000)
  const {
    claims,
    alg = algorithmOf(key),
    header,
    expIn = DEFAULT_LIFETIME_S,
    nbfIn,
    iatIn = 0,
  } = options
  const payload = without({
    iss: url,
    sub: subject,
    aud: 'compat',
    iat: now + iatIn,
    exp: now + expIn,
    ...(nbfIn === undefined ? {} : { nbf: now + nbfIn }),
    ...claims,
  })
  const signed = `${encode(without({ alg, kid: options.key ?? 'rsa', ...header }))}.${encode(payload)}`
  return `${signed}.${signatureOf(Buffer.from(signed), alg, key).toString('base64url')}`
}

function signatureOf(signed: Buffer, alg: string, key: KeyObject): Buffer {
  const digest = `sha${alg.slice(2)}`
  switch (alg.slice(0, 2)) {
    case 'HS': {
      const publicPem = createPublicKey(key).export({ type: 'spki', format: 'pem' })
      return createHmac(digest, publicPem).update(signed).digest()
    }
    case 'RS':
      return sign(digest, signed, key)
    case 'PS':
      return sign(digest, signed, { key, padding: 6, saltLength: -1 }) // padding 6 is PSS; the salt is as long as the digest
    case 'ES':
      return sign(digest, signed, { key, dsaEncoding: 'ieee-p1363' })
    default:
      return Buffer.alloc(0)
  }
}

const algorithmOf = (key: KeyObject): string =>
  key.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256'

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const without = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
