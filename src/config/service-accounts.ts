/** Service account tokens: their issuers, their signing key, and the keys that verify them. */
import { quote } from '../api/quote.ts'
import { parseGoUrl } from '../api/url.ts'
import { readSigningKey, readVerifyingKeys } from '../lib/jwt.ts'
import type { Values } from './values.ts'

const HOUR_SECONDS = 3600
const SECONDS_MAX = 2 ** 32

export type ServiceAccounts = {
  /** The first one is the issuer of new tokens. */
  readonly issuers: readonly [string, ...string[]]
  readonly audiences: readonly string[]
  readonly signingKeyPem: string
  readonly keyPems: readonly string[]
  /** Whether tokens that kubelets request for pods are valid for a year. */
  readonly extendsExpiration: boolean
  /** The maximum lifetime; null: unlimited. */
  readonly secondsMax: number | null
  /** Null: this server's own address. */
  readonly jwksUri: string | null
}

/** Null if no flag configures it. */
export function readServiceAccounts(values: Values): ServiceAccounts | null {
  const [issuer, ...others] = values.array('service-account-issuer')
  const signingKeyPem = values.file('service-account-signing-key-file')
  const keyPems = values.files('service-account-key-file')
  const jwksUri = readJwksUri(values)
  const secondsMax = readSecondsMax(values)
  const extendsExpiration = values.boolean('service-account-extend-token-expiration')
  const isSigning = values.string('service-account-signing-key-file') !== ''
  if (issuer === undefined && !isSigning && keyPems.length === 0) return null
  checkIssuers(values)
  if (issuer === undefined || issuer === '' || !isSigning) {
    const [signing, naming] = ['--service-account-signing-key-file', '--service-account-issuer']
    const isNeither = issuer === undefined && !isSigning
    if (isNeither) values.fault(`${signing} and ${naming} are required flags`)
    else values.fault(`${signing}, ${naming}, and --api-audiences should be specified together`)
    return null
  }
  checkKeys(values, signingKeyPem, keyPems)
  const audiences = values.list('api-audiences')
  return {
    issuers: [issuer, ...others],
    audiences: audiences.length === 0 ? [issuer] : audiences,
    signingKeyPem,
    keyPems: keyPems.length === 0 ? [signingKeyPem] : keyPems,
    extendsExpiration,
    secondsMax,
    jwksUri,
  }
}

function checkIssuers(values: Values): void {
  const issuers = values.array('service-account-issuer')
  if (issuers.length === 0) values.fault('service-account-issuer is a required flag')
  for (const [at, issuer] of issuers.entries()) {
    const url = issuer.includes(':') ? parseGoUrl(issuer) : undefined
    const name = `service-account-issuer ${quote(issuer)}`
    if (url !== undefined && 'fault' in url) {
      values.fault(`${name} contained a ':' but was not a valid URL: ${url.fault}`)
    } else if (issuer === '') values.fault('service-account-issuer should not be an empty string')
    else if (issuers.indexOf(issuer) < at) values.fault(`${name} is already specified`)
  }
}

/** Files that could not be read are reported already. */
function checkKeys(values: Values, signingKeyPem: string, keyPems: readonly string[]): void {
  if (signingKeyPem !== '' && readSigningKey(signingKeyPem) === undefined) {
    const path = values.string('service-account-signing-key-file')
    values.fault(`--service-account-signing-key-file: ${path} does not contain a valid RSA or ECDSA private key`)
  }
  for (const [at, path] of values.array('service-account-key-file').entries()) {
    const pem = keyPems[at] ?? ''
    if (pem === '' || readVerifyingKeys(pem).length > 0) continue
    const why = 'data does not contain any valid RSA or ECDSA public keys'
    values.fault(`error reading public key file ${path}: ${why}`)
  }
}

function readSecondsMax(values: Values): number | null {
  const seconds = values.durationMs('service-account-max-token-expiration') / 1000
  if (seconds === 0) return null
  if (seconds < HOUR_SECONDS || seconds > SECONDS_MAX) {
    values.fault('the service-account-max-token-expiration must be between 1 hour and 2^32 seconds')
  }
  return seconds
}

function readJwksUri(values: Values): string | null {
  const uri = values.string('service-account-jwks-uri')
  if (uri === '') return null
  const url = parseGoUrl(uri)
  if ('fault' in url) values.fault(`service-account-jwks-uri must be a valid URL: ${url.fault}`)
  else if (url.scheme !== 'https') values.fault(`service-account-jwks-uri requires https scheme, parsed as: ${uri}`)
  return uri
}
