/**
 * OpenID issuers with fixed keys: their two documents, and tokens of any content that are signed
 * with these keys, or are not.
 */
import { createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from './json.ts'

export type IssuerOptions = {
  /** Names of fixtures/issuer-keys.json that its JWKS has. Absent: rsa and ec. */
  readonly keys?: readonly string[]
  /**
   * Over the fields of its discovery document, with `${issuer.name}` filled in; null removes one.
   */
  readonly discovery?: Readonly<Record<string, unknown>>
}

export type TokenOptions = {
  /** The issuer of the set-up whose address is `iss`. Absent: the claims have to have one. */
  readonly issuer?: string
  /** Over iss, sub ($ns-u), aud (compat), iat and exp; null removes one. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Of fixtures/issuer-keys.json, or service-account: the server's own. Absent: rsa. */
  readonly key?: string
  /**
   * Absent: RS256 or ES256. none has no signature; HS256 takes the public key in PEM for its
   * secret.
   */
  readonly alg?: string
  /** Over alg and kid; null removes one. */
  readonly header?: Readonly<Record<string, unknown>>
  /** Seconds from now. Absent: 600, no nbf, 0. */
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
    if (!isRecord(jwks)) throw new Error(`${path} has no keys by name`)
    const read = Object.entries(jwks).map(
      ([name, pem]) => [name, createPrivateKey(String(pem))] as const,
    )
    this.#keys = new Map([...read, ...more])
  }

  get(name: string): KeyObject {
    const key = this.#keys.get(name)
    if (key === undefined)
      throw new Error(`no key is named ${name}: there are ${[...this.#keys.keys()].join(', ')}`)
    return key
  }
}

/** Documents by path below the address of the issuer. */
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

/** `url` is the address of the issuer, `subject` the default of `sub`. */
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
      return sign(digest, signed, { key, padding: 6, saltLength: -1 }) // RSA_PKCS1_PSS_PADDING, as long as the digest
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
