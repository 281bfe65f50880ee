/**
 * Reads the flags for service account tokens: the issuers, the signing key, and the keys that
 * verify tokens. Errors and warnings are those of kube-apiserver.
 */
import type { Gates } from '../api/gates.ts'
import { quote } from '../api/quote.ts'
import { parseGoUrl } from '../api/url.ts'
import { formatDuration } from '../lib/time/duration.ts'
import { readSigningKey, readVerifyingKeys } from '../lib/jwt.ts'
import { readFlagFile } from './flag-file.ts'
import type { Values } from './values.ts'

const HOUR_SECONDS = 3600
const SECONDS_MAX = 2 ** 32
/**
 * WARNED_SECONDS is the lifetime that kubelets request for the tokens of pods. The server extends
 * it to EXTENDED_SECONDS. Both values are those of kube-apiserver.
 */
const WARNED_SECONDS = 3607
const EXTENDED_SECONDS = 365 * 24 * HOUR_SECONDS

export type ServiceAccounts = {
  /** Accepted issuers. New tokens have the first issuer. */
  readonly issuers: readonly [string, ...string[]]
  readonly audiences: readonly string[]
  readonly signing: ServiceAccountSigning
  /** Whether tokens that kubelets request for pods are valid for a year instead of an hour. */
  readonly extendsExpiration: boolean
  /** Maximum lifetime of a token in seconds. Null means unlimited. */
  readonly secondsMax: number | null
  /** URL at which other servers serve the public keys. Null if this server itself serves them. */
  readonly jwksUri: string | null
}

export type ServiceAccountSigning =
  | { readonly kind: 'key'; readonly pem: string; readonly verifyingPems: readonly string[] }
  /** The Unix socket of an external signer. `@name` is an abstract socket. */
  | { readonly kind: 'endpoint'; readonly path: string }

export type ReadServiceAccountsOptions = {
  readonly gates: Gates
  readonly warn: (text: string) => void
}

/** Reads the flags. Returns null if service account tokens are not configured. */
export function readServiceAccounts(
  values: Values,
  { gates, warn }: ReadServiceAccountsOptions,
): ServiceAccounts | null {
  const [issuer, ...others] = values.array('service-account-issuer')
  const signingKeyPem = readSigningKeyFile(values)
  const keyPems = readKeyFiles(values)
  const jwksUri = readJwksUri(values)
  const extendsExpiration = values.boolean('service-account-extend-token-expiration')
  const secondsMax = readSecondsMax(values, extendsExpiration ? warn : undefined)
  const endpoint = readEndpoint(values, gates)
  const isSigning = endpoint !== '' || values.string('service-account-signing-key-file') !== ''
  const isOff = issuer === undefined && !isSigning && !values.isGiven('service-account-key-file')
  if (isOff && !values.isGiven('api-audiences')) return null
  checkIssuers(values)
  if (issuer === undefined || issuer === '' || !isSigning) {
    const [signing, naming] = ['--service-account-signing-key-file', '--service-account-issuer']
    const isNone = issuer === undefined && !isSigning && !values.isGiven('api-audiences')
    if (isNone) values.fault(`${signing} and ${naming} are required flags`)
    else values.fault(`${signing}, ${naming}, and --api-audiences should be specified together`)
    return null
  }
  const audiences = values.slice('api-audiences')
  return {
    issuers: [issuer, ...others],
    audiences: audiences.length === 0 ? [issuer] : audiences,
    signing:
      endpoint === ''
        ? {
            kind: 'key',
            pem: signingKeyPem,
            verifyingPems: keyPems.length === 0 ? [signingKeyPem] : keyPems,
          }
        : { kind: 'endpoint', path: endpoint },
    extendsExpiration,
    secondsMax,
    jwksUri,
  }
}

/** Matches the path of a Unix socket, or `@` and the name of an abstract socket. */
const endpointPattern = /^(?:(?:\/[^/ ]*)+\/?|@(?:[a-zA-Z0-9_-]+\.)*[a-zA-Z0-9_-]+)$/

function readEndpoint(values: Values, gates: Gates): string {
  const endpoint = values.string('service-account-signing-endpoint')
  if (endpoint === '') return ''
  const flag = '`--service-account-signing-endpoint`'
  if (values.string('service-account-signing-key-file') !== '') {
    const both = 'service-account-signing-key-file and service-account-signing-endpoint'
    values.fault(`${both} are mutually exclusive and cannot be set at the same time`)
    // As in kube-apiserver, after this error the other flags that conflict with an external signer
    // are not validated.
    return endpoint
  }
  if (values.isGiven('service-account-key-file')) {
    const files = '`--service-account-signing-key-file` and/or `--service-account-key-file`'
    values.fault(`can't set ${files} with ${flag} (They are mutually exclusive)`)
  }
  if (!gates.isOn('ExternalServiceAccountTokenSigner')) {
    values.fault(`setting ${flag} requires enabling ExternalServiceAccountTokenSigner feature gate`)
  }
  if (!endpointPattern.test(endpoint)) {
    const wanted =
      'should be a valid location on the filesystem or must be prefixed with @ to name UDS in abstract namespace'
    values.fault(`invalid value ${quote(endpoint)} passed for ${flag}, ${wanted}`)
  }
  return endpoint
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

/**
 * Returns the signing key, or an empty string if no key is configured. If the key cannot be used,
 * reports an error and returns an empty string.
 */
function readSigningKeyFile(values: Values): string {
  const path = values.string('service-account-signing-key-file')
  if (path === '') return ''
  const fault = (why: string): void =>
    values.fault(`failed to parse service-account-issuer-key-file: ${why}`)
  const pem = readFlagFile({ fault }, path)
  if (pem === undefined) return ''
  if (readSigningKey(pem) !== undefined) return pem
  fault(
    `error reading private key file ${path}: data does not contain a valid RSA or ECDSA private key`,
  )
  return ''
}

function readKeyFiles(values: Values): string[] {
  return values.array('service-account-key-file').flatMap((path) => {
    const pem = readFlagFile(values, path)
    if (pem === undefined) return []
    if (readVerifyingKeys(pem).length > 0) return [pem]
    values.fault(
      `error reading public key file ${path}: data does not contain any valid RSA or ECDSA public keys`,
    )
    return []
  })
}

/**
 * Returns the maximum lifetime of tokens. Calls `warn` if it is shorter than the year for which
 * tokens of pods would otherwise be valid.
 */
function readSecondsMax(values: Values, warn?: (text: string) => void): number | null {
  const seconds = values.durationMs('service-account-max-token-expiration') / 1000
  if (seconds === 0) return null
  if (seconds < HOUR_SECONDS || seconds > SECONDS_MAX) {
    values.fault('the service-account-max-token-expiration must be between 1 hour and 2^32 seconds')
  }
  const extending = 'service-account-extend-token-expiration is true'
  const lifetime = formatDuration(seconds * 1000)
  if (seconds < WARNED_SECONDS) {
    const how = `service-account-max-token-expiration must be set longer than ${WARNED_SECONDS} seconds (currently ${lifetime})`
    warn?.(`${extending}, in order to correctly trigger safe transition logic, ${how}`)
  }
  if (seconds < EXTENDED_SECONDS) {
    const how = `which is longer than service-account-max-token-expiration set to ${lifetime}`
    warn?.(`${extending}, enabling tokens valid up to ${EXTENDED_SECONDS} seconds, ${how}`)
  }
  return seconds
}

function readJwksUri(values: Values): string | null {
  const uri = values.string('service-account-jwks-uri')
  if (uri === '') return null
  const url = parseGoUrl(uri)
  if ('fault' in url) values.fault(`service-account-jwks-uri must be a valid URL: ${url.fault}`)
  else if (url.scheme !== 'https')
    values.fault(`service-account-jwks-uri requires https scheme, parsed as: ${uri}`)
  return uri
}
