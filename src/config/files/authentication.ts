/**
 * `--authentication-config`: which issuers of JSON Web Tokens count, how their claims become a user, and who may come without
 * credentials. apiserver.config.k8s.io, v1alpha1 and v1beta1, which have the same fields.
 */
import { duplicate, type FieldFault, forbiddenField, invalidShown, tooMany } from '../../api/field-fault.ts'
import type { Gates } from '../../api/gates.ts'
import { goStruct } from '../../api/go-value.ts'
import { type Fields, fieldsOf, isFields, itemsOf, textOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { type ConfigFileType, type FileRead, readConfigFile } from './config-file.ts'
import { describeFaults } from './faults.ts'
import { issuerFaults } from './issuer.ts'
import { type JwtAuthenticator, readJwtAuthenticator } from './jwt-authenticator.ts'
import { authenticationScheme } from './schemes.ts'

/** As upstream: each is asked for every token of its issuer. */
const AUTHENTICATORS_MAX = 64

export type AuthenticationConfiguration = {
  readonly jwt: readonly JwtAuthenticator[]
  /** Null: as --anonymous-auth says. */
  readonly anonymous: AnonymousConfiguration | null
}

export type AnonymousConfiguration = {
  readonly isEnabled: boolean
  /** The paths that are open to everybody; none: all are. */
  readonly paths: readonly string[]
}

export type AuthenticationOptions = {
  readonly gates: Gates
  /** Issuers of service account tokens, which no other may be. */
  readonly disallowedIssuers: readonly string[]
  /** Whether --anonymous-auth says who may come without credentials: then the file may not. */
  readonly hasAnonymousFlag?: boolean
}

export function readAuthenticationConfiguration(
  bytes: Buffer,
  { disallowedIssuers, ...options }: AuthenticationOptions,
): FileRead<AuthenticationConfiguration> {
  const read = readFile(bytes, { ...options, disallowedIssuers: [] }, () => [])
  if ('fault' in read) return read
  // Upstream looks at these when it makes the authenticators, one after the other, and no longer knows their places.
  const overlaps = read.value.jwt.map(({ issuer }) => issuerFaults(issuer, 'issuer', disallowedIssuers))
  const first = overlaps.find((faults) => faults.length > 0)
  return first === undefined ? read : { fault: describeFaults(first) }
}

/** The same of a file that changed while the server runs. Who may come without credentials stays as it was at the start. */
export function rereadAuthenticationConfiguration(
  bytes: Buffer,
  options: AuthenticationOptions,
  initial: AuthenticationConfiguration,
): FileRead<AuthenticationConfiguration> {
  return readFile(bytes, options, ({ anonymous }) =>
    isSameAnonymous(anonymous, initial.anonymous)
      ? []
      : [forbiddenField('anonymous', 'changed from initial configuration file')],
  )
}

function readFile(
  bytes: Buffer,
  options: AuthenticationOptions,
  moreFaults: (value: AuthenticationConfiguration) => readonly FieldFault[],
): FileRead<AuthenticationConfiguration> {
  const type: ConfigFileType<AuthenticationConfiguration> = {
    scheme: authenticationScheme,
    kind: 'AuthenticationConfiguration',
    ofEmpty: { fault: 'empty config data' },
    read: (fields) => {
      if (options.hasAnonymousFlag === true && isFields(fields['anonymous'])) return { fault: anonymousTwice }
      const { value, faults } = checkAuthentication(fields, options)
      const all = [...faults, ...moreFaults(value)]
      return all.length === 0 ? { value } : { fault: describeFaults(all) }
    },
  }
  return readConfigFile(bytes, type)
}

/** The misspelt flag is upstream's. */
const anonymousTwice =
  'anonymous: Forbidden: --anonynous-auth flag cannot be set when anonymous field is configured in authentication configuration file'

function isSameAnonymous(one: AnonymousConfiguration | null, other: AnonymousConfiguration | null): boolean {
  if (one === null || other === null) return one === other
  const isSameLength = one.paths.length === other.paths.length
  return one.isEnabled === other.isEnabled && isSameLength && one.paths.every((path, at) => path === other.paths[at])
}

type Checked<T> = { readonly value: T; readonly faults: readonly FieldFault[] }

/** The value counts only where there are no faults. */
export function checkAuthentication(
  { jwt, anonymous }: Fields,
  options: AuthenticationOptions,
): Checked<AuthenticationConfiguration> {
  const items = itemsOf(jwt)
  const none = { jwt: [], anonymous: null }
  if (items.length > AUTHENTICATORS_MAX) {
    return { value: none, faults: [tooMany('jwt', items.length, AUTHENTICATORS_MAX)] }
  }
  const faults: FieldFault[] = []
  const authenticators = items.map((item, at) => {
    const read = readJwtAuthenticator(item, `jwt[${at}]`, options.disallowedIssuers)
    faults.push(...read.faults, ...duplicateIssuer(items, at))
    return read.value
  })
  const open = readAnonymous(anonymous, options.gates)
  return { value: { jwt: authenticators, anonymous: open.value }, faults: [...faults, ...open.faults] }
}

function duplicateIssuer(items: readonly Fields[], at: number): FieldFault[] {
  const before = items.slice(0, at).map(({ issuer }) => fieldsOf(issuer))
  const { url, discoveryURL } = fieldsOf(items[at]?.['issuer'])
  const faults: FieldFault[] = []
  if (before.some((issuer) => textOf(issuer['url']) === textOf(url))) {
    faults.push(duplicate(`jwt[${at}].issuer.url`, textOf(url)))
  }
  const discovery = textOf(discoveryURL)
  if (discovery !== '' && before.some((issuer) => issuer['discoveryURL'] === discovery)) {
    faults.push(duplicate(`jwt[${at}].issuer.discoveryURL`, discovery))
  }
  return faults
}

function readAnonymous(anonymous: Fields[string], gates: Gates): Checked<AnonymousConfiguration | null> {
  if (!isFields(anonymous)) return { value: null, faults: [] }
  const paths = itemsOf(anonymous['conditions']).map(({ path }) => textOf(path))
  const isEnabled = anonymous['enabled'] === true
  const faults: FieldFault[] = []
  if (!gates.isOn('AnonymousAuthConfigurableEndpoints')) {
    const why = 'anonymous is not supported when AnonymousAuthConfigurableEnpoints feature gate is disabled'
    faults.push(forbiddenField('anonymous', why))
  }
  if (!isEnabled && paths.length > 0) {
    const shown = paths.map((path) => goStruct('apiserver.AnonymousAuthCondition', { Path: quote(path) })).join(', ')
    const why = 'enabled should be set to true when conditions are defined'
    faults.push(invalidShown('anonymous.conditions', `[]apiserver.AnonymousAuthCondition{${shown}}`, why))
  }
  return { value: { isEnabled, paths }, faults }
}
