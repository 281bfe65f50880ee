/**
 * Reads the file of `--authentication-config`, which configures JWT authenticators and anonymous
 * authentication. Its kind is AuthenticationConfiguration (apiserver.config.k8s.io). v1alpha1 and
 * v1beta1 have the same fields.
 */
import { describeFaults } from '../../api/aggregate.ts'
import {
  duplicate,
  type FieldFault,
  forbiddenField,
  invalidShown,
  tooMany,
} from '../../api/field-fault.ts'
import type { Gates } from '../../api/gates.ts'
import { goStruct } from '../../api/go-value.ts'
import { type Fields, fieldsOf, isFields, itemsOf, textOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import {
  type ConfigFileType,
  type FileRead,
  readConfigFile,
  rereadConfigFile,
} from './config-file.ts'
import { issuerFaults } from './issuer.ts'
import {
  type JwtAuthenticator,
  type JwtCompiler,
  jwtCompiler,
  prepareJwtAuthenticator,
  readJwtAuthenticator,
} from './jwt-authenticator.ts'
import { authenticationScheme } from './schemes.ts'

/** Maximum number of JWT authenticators, as in kube-apiserver. */
const AUTHENTICATORS_MAX = 64

export type AuthenticationConfiguration = {
  readonly jwt: readonly JwtAuthenticator[]
  /**
   * Configuration of anonymous requests. If null, the file does not configure them, and
   * --anonymous-auth applies.
   */
  readonly anonymous: AnonymousConfiguration | null
}

export type AnonymousConfiguration = {
  readonly isEnabled: boolean
  /** Paths that accept anonymous requests. If empty, all paths accept them. */
  readonly paths: readonly string[]
}

export type AuthenticationOptions = {
  readonly gates: Gates
  /**
   * The issuers of service account tokens. A JWT authenticator must not have one of these issuers.
   */
  readonly disallowedIssuers: readonly string[]
  /** Whether --anonymous-auth is set. If it is, the file must not contain `anonymous`. */
  readonly hasAnonymousFlag?: boolean
}

/** Reads the file of `--authentication-config` at startup. */
export function readAuthenticationConfiguration(
  bytes: Buffer,
  { disallowedIssuers, ...options }: AuthenticationOptions,
): FileRead<AuthenticationConfiguration> {
  const read = readConfigFile(bytes, fileType({ ...options, disallowedIssuers: [] }))
  if ('fault' in read) return read
  // Check for issuers that JWT authenticators must not have. kube-apiserver does this later, when
  // it creates the authenticators, so its errors do not contain the index of the authenticator.
  const overlaps = read.value.jwt.map(({ issuer }) =>
    issuerFaults(issuer, { path: 'issuer', disallowed: disallowedIssuers }),
  )
  const first = overlaps.find((faults) => faults.length > 0)
  return first === undefined ? read : { fault: describeFaults(first) }
}

/**
 * Reads the file while the server runs, without blocking the event loop. Changing `anonymous` is an
 * error.
 */
export function rereadAuthenticationConfiguration(
  bytes: Buffer,
  options: AuthenticationOptions,
  initial: AuthenticationConfiguration,
): Promise<FileRead<AuthenticationConfiguration>> {
  const changed = forbiddenField('anonymous', 'changed from initial configuration file')
  const type = fileType(options, ({ anonymous }) =>
    isSameAnonymous(anonymous, initial.anonymous) ? [] : [changed],
  )
  return rereadConfigFile(bytes, type)
}

function fileType(
  options: AuthenticationOptions,
  moreFaults: (value: AuthenticationConfiguration) => readonly FieldFault[] = () => [],
): ConfigFileType<AuthenticationConfiguration> {
  const compiler = jwtCompiler(options.gates.release)
  return {
    scheme: authenticationScheme,
    kind: 'AuthenticationConfiguration',
    ofEmpty: { fault: 'empty config data' },
    prepare: async ({ jwt }) => {
      for (const item of itemsOf(jwt).slice(0, AUTHENTICATORS_MAX))
        await prepareJwtAuthenticator(item, compiler)
    },
    read: (fields) => {
      if (options.hasAnonymousFlag === true && isFields(fields['anonymous']))
        return { fault: anonymousTwice }
      const { value, faults } = checkAuthentication(fields, options, compiler)
      const all = [...faults, ...moreFaults(value)]
      return all.length === 0 ? { value } : { fault: describeFaults(all) }
    },
  }
}

/** The error message of kube-apiserver, including its typo. */
const anonymousTwice =
  'anonymous: Forbidden: --anonynous-auth flag cannot be set when anonymous field is configured in authentication configuration file'

function isSameAnonymous(
  one: AnonymousConfiguration | null,
  other: AnonymousConfiguration | null,
): boolean {
  if (one === null || other === null) return one === other
  const isSameLength = one.paths.length === other.paths.length
  return (
    one.isEnabled === other.isEnabled &&
    isSameLength &&
    one.paths.every((path, at) => path === other.paths[at])
  )
}

type CheckedValue<T> = { readonly value: T; readonly faults: readonly FieldFault[] }

/** Validates the content of the file. If `faults` is not empty, the caller must not use `value`. */
export function checkAuthentication(
  { jwt, anonymous }: Fields,
  { gates, disallowedIssuers }: Pick<AuthenticationOptions, 'gates' | 'disallowedIssuers'>,
  compiler: JwtCompiler = jwtCompiler(gates.release),
): CheckedValue<AuthenticationConfiguration> {
  const items = itemsOf(jwt)
  const none = { jwt: [], anonymous: null }
  if (items.length > AUTHENTICATORS_MAX) {
    return { value: none, faults: [tooMany('jwt', items.length, AUTHENTICATORS_MAX)] }
  }
  const faults: FieldFault[] = []
  const authenticators = items.map((item, at) => {
    const read = readJwtAuthenticator(item, { path: `jwt[${at}]`, disallowedIssuers, compiler })
    faults.push(...read.faults, ...duplicateIssuer(items, at))
    return read.value
  })
  const open = readAnonymous(anonymous, gates)
  return {
    value: { jwt: authenticators, anonymous: open.value },
    faults: [...faults, ...open.faults],
  }
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

function readAnonymous(
  anonymous: Fields[string],
  gates: Gates,
): CheckedValue<AnonymousConfiguration | null> {
  if (!isFields(anonymous)) return { value: null, faults: [] }
  const paths = itemsOf(anonymous['conditions']).map(({ path }) => textOf(path))
  const isEnabled = anonymous['enabled'] === true
  const faults: FieldFault[] = []
  if (!gates.isOn('AnonymousAuthConfigurableEndpoints')) {
    const why =
      'anonymous is not supported when AnonymousAuthConfigurableEnpoints feature gate is disabled'
    faults.push(forbiddenField('anonymous', why))
  }
  if (!isEnabled && paths.length > 0) {
    const shown = paths
      .map((path) => goStruct('apiserver.AnonymousAuthCondition', { Path: quote(path) }))
      .join(', ')
    const why = 'enabled should be set to true when conditions are defined'
    faults.push(
      invalidShown('anonymous.conditions', `[]apiserver.AnonymousAuthCondition{${shown}}`, why),
    )
  }
  return { value: { isEnabled, paths }, faults }
}
