/**
 * Reads and validates the authentication flags and the files that they name. All errors are
 * reported, with the messages of kube-apiserver.
 */
import type { Gates } from '../api/gates.ts'
import { formatDuration } from '../lib/time/duration.ts'
import {
  type AnonymousConfiguration,
  type AuthenticationConfiguration,
  readAuthenticationConfiguration,
} from './files/authentication.ts'
import type { JwtAuthenticator } from './files/jwt-authenticator.ts'
import { readKubeconfig } from './files/kubeconfig.ts'
import type { ClientConfig } from '../net/outbound/kubeconfig.ts'
import { readFlagBytes } from './flag-file.ts'
import { hasOidcFlags, readOidc } from './oidc.ts'
import { readRequestHeader, type RequestHeaderConfig } from './request-header.ts'
import { signingAlgorithms } from './signing-algorithms.ts'
import type { Values } from './values.ts'

export type AuthenticationConfig = {
  readonly anonymous: AnonymousConfiguration
  readonly requestHeader: RequestHeaderConfig | null
  readonly hasBootstrapTokens: boolean
  /** Whether legacy service account tokens are valid only as long as their Secret exists. */
  readonly looksUpServiceAccounts: boolean
  readonly jwt: readonly JwtAuthenticator[]
  /** Signing algorithms that are accepted for the tokens of `jwt` issuers. */
  readonly signingAlgorithms: readonly string[]
  /**
   * The file that configures `jwt`, which is reloaded when it changes. Null if `jwt` is configured
   * by flags.
   */
  readonly file: AuthenticationFile | null
  readonly webhook: TokenWebhook | null
}

/**
 * The --authentication-config file as read at startup. The server watches it and reloads it when
 * its content differs from `bytes`.
 */
export type AuthenticationFile = {
  readonly path: string
  /** The content of the file whose configuration is currently in use. */
  readonly bytes: Buffer
  /**
   * The configuration in the file, without the flags. When the file is reloaded, `anonymous` must
   * not change.
   */
  readonly initial: AuthenticationConfiguration
}

export type TokenWebhook = {
  readonly kubeconfig: ClientConfig
  readonly reviewVersion: 'v1' | 'v1beta1'
  readonly cacheMs: number
}

export type ReadAuthenticationOptions = {
  readonly gates: Gates
  readonly warn: (text: string) => void
  /**
   * Whether the authorizer AlwaysAllow is enabled. In this case, anonymous requests are not
   * allowed.
   */
  readonly isOpen: boolean
}

export function readAuthentication(
  values: Values,
  { gates, warn, isOpen }: ReadAuthenticationOptions,
): AuthenticationConfig {
  const path = values.string('authentication-config')
  const oidc = readOidc(values, { gates, hasFile: path !== '' })
  // If the file is used together with --oidc-* flags, `readOidc` reports an error. As in
  // kube-apiserver, the file is then not read.
  const file = path === '' || hasOidcFlags(values) ? null : readFile(values, path, gates)
  return {
    anonymous: readAnonymous(values, file?.initial, { isOpen, warn }),
    requestHeader: readRequestHeader(values, gates, warn),
    hasBootstrapTokens: values.boolean('enable-bootstrap-token-auth'),
    looksUpServiceAccounts: values.boolean('service-account-lookup'),
    jwt: file?.initial.jwt ?? oidc.jwt,
    signingAlgorithms: path === '' ? oidc.signingAlgorithms : signingAlgorithms,
    file,
    webhook: readWebhook(values, warn),
  }
}

function readFile(values: Values, path: string, gates: Gates): AuthenticationFile | null {
  if (!gates.isOn('StructuredAuthenticationConfiguration')) {
    values.fault(
      'set --feature-gates=StructuredAuthenticationConfiguration=true to use authentication-config file',
    )
    return null
  }
  const bytes = readFlagBytes(values, path)
  if (bytes === undefined) return null
  const read = readAuthenticationConfiguration(bytes, {
    gates,
    disallowedIssuers: values.array('service-account-issuer'),
    hasAnonymousFlag: values.isGiven('anonymous-auth'),
  })
  if (!('fault' in read)) return { path, bytes, initial: read.value }
  values.fault(read.fault)
  return null
}

const anonymousOff =
  'AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. You should use a different authorizer'

function readAnonymous(
  values: Values,
  file: AuthenticationConfiguration | undefined,
  { isOpen, warn }: Pick<ReadAuthenticationOptions, 'isOpen' | 'warn'>,
): AnonymousConfiguration {
  const isAllowed = values.boolean('anonymous-auth')
  if (isAllowed && isOpen) warn(anonymousOff)
  return file?.anonymous ?? { isEnabled: isAllowed && !isOpen, paths: [] }
}

/**
 * How long the user of a valid token is cached, whichever authenticator found it. The value is that
 * of kube-apiserver.
 */
const TOKEN_CACHE_MS = 10_000

function readWebhook(values: Values, warn: (text: string) => void): TokenWebhook | null {
  const cacheMs = values.durationMs('authentication-token-webhook-cache-ttl')
  const path = values.string('authentication-token-webhook-config-file')
  if (path === '') return null
  if (cacheMs > 0 && cacheMs < TOKEN_CACHE_MS) {
    const overall = `the overall cache ttl of ${formatDuration(TOKEN_CACHE_MS)} for successful token authentication attempts`
    warn(`the webhook cache ttl of ${formatDuration(cacheMs)} is shorter than ${overall}.`)
  }
  const kubeconfig = readKubeconfig(path)
  if ('fault' in kubeconfig) {
    values.fault(kubeconfig.fault)
    return null
  }
  const version = values.string('authentication-token-webhook-version')
  if (version !== 'v1' && version !== 'v1beta1') {
    const known = 'supported versions are "v1", "v1beta1"'
    values.fault(`unsupported authentication webhook version ${JSON.stringify(version)}, ${known}`)
  }
  return { kubeconfig, reviewVersion: version === 'v1' ? 'v1' : 'v1beta1', cacheMs }
}
