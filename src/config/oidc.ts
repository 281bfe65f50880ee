/** Reads the `--oidc-*` flags, which configure a single JWT authenticator. */
import { describeFaults } from '../api/aggregate.ts'
import type { Gates } from '../api/gates.ts'
import type { Fields } from '../api/object.ts'
import { signingAlgorithms } from './signing-algorithms.ts'
import { checkAuthentication } from './files/authentication.ts'
import { issuerFaults } from './files/issuer.ts'
import type { JwtAuthenticator } from './files/jwt-authenticator.ts'
import { readFlagFile } from './flag-file.ts'
import type { Values } from './values.ts'

const oidcFlags = [
  'oidc-issuer-url',
  'oidc-client-id',
  'oidc-ca-file',
  'oidc-username-claim',
  'oidc-username-prefix',
  'oidc-groups-claim',
  'oidc-groups-prefix',
  'oidc-signing-algs',
  'oidc-required-claim',
] as const

export type OidcConfig = {
  readonly jwt: readonly JwtAuthenticator[]
  readonly signingAlgorithms: readonly string[]
}

export const hasOidcFlags = (values: Values): boolean =>
  oidcFlags.some((flag) => values.isGiven(flag))

/**
 * Returns the JWT authenticator of the `--oidc-*` flags. `hasFile` is whether
 * --authentication-config is also set, which is an error.
 */
export function readOidc(
  values: Values,
  { gates, hasFile }: { readonly gates: Gates; readonly hasFile: boolean },
): OidcConfig {
  const none: OidcConfig = { jwt: [], signingAlgorithms: [] }
  if (!hasOidcFlags(values)) return none
  const [url, clientId] = [values.string('oidc-issuer-url'), values.string('oidc-client-id')]
  if (hasFile) values.fault('authentication-config file and oidc-* flags are mutually exclusive')
  else if (url === '' || clientId === '') {
    values.fault(
      'oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set',
    )
  }
  if (hasFile || url === '' || clientId === '') return none
  const issuer = readIssuerFields(values)
  if (issuer === undefined) return none
  const { value, faults } = checkAuthentication({ jwt: [issuer] }, { gates, disallowedIssuers: [] })
  if (faults.length > 0) values.fault(describeFaults(faults))
  else refuseOverlaps(values, value.jwt)
  return { jwt: value.jwt, signingAlgorithms: readAlgorithms(values) }
}

function refuseOverlaps(values: Values, jwt: readonly JwtAuthenticator[]): void {
  const disallowed = values.array('service-account-issuer')
  const faults = jwt.flatMap(({ issuer }) => issuerFaults(issuer, { path: 'issuer', disallowed }))
  if (faults.length > 0) values.fault(describeFaults(faults))
}

/**
 * Converts the flags to an authenticator of an AuthenticationConfiguration. Returns undefined if
 * the flags are invalid.
 */
function readIssuerFields(values: Values): Fields | undefined {
  const caPath = values.string('oidc-ca-file')
  const certificateAuthority = caPath === '' ? '' : readFlagFile(values, caPath)
  const required = readRequiredClaims(values)
  if (certificateAuthority === undefined || required === undefined) return undefined
  const groupsClaim = values.string('oidc-groups-claim')
  return {
    issuer: {
      url: values.string('oidc-issuer-url'),
      audiences: [values.string('oidc-client-id')],
      certificateAuthority,
    },
    claimMappings: {
      username: { claim: values.string('oidc-username-claim'), prefix: usernamePrefix(values) },
      ...(groupsClaim === ''
        ? {}
        : { groups: { claim: groupsClaim, prefix: values.string('oidc-groups-prefix') } }),
    },
    claimValidationRules: [...required].map(([claim, requiredValue]) => ({ claim, requiredValue })),
  }
}

/**
 * Returns the prefix of user names. The default is the issuer URL, or no prefix if user names are
 * email addresses. `-` means no prefix.
 */
function usernamePrefix(values: Values): string {
  const prefix = values.string('oidc-username-prefix')
  if (prefix === '-') return ''
  const isMail = values.string('oidc-username-claim') === 'email'
  return prefix === '' && !isMail ? `${values.string('oidc-issuer-url')}#` : prefix
}

function readRequiredClaims(values: Values): ReadonlyMap<string, string> | undefined {
  const claims = new Map<string, string>()
  for (const pair of values.array('oidc-required-claim')) {
    const mark = pair.indexOf('=')
    if (mark === -1) {
      const why = 'malformed pair, expect string=string'
      values.fault(
        `invalid argument ${JSON.stringify(pair)} for "--oidc-required-claim" flag: ${why}`,
      )
      return undefined
    }
    claims.set(pair.slice(0, mark).trim(), pair.slice(mark + 1).trim())
  }
  return claims
}

function readAlgorithms(values: Values): readonly string[] {
  const algorithms = values.slice('oidc-signing-algs')
  const wrong = algorithms.find((algorithm) => !signingAlgorithms.includes(algorithm))
  if (wrong !== undefined) values.fault(`oidc: unsupported signing alg: ${JSON.stringify(wrong)}`)
  return algorithms.length === 0 ? ['RS256'] : algorithms
}
