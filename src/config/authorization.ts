/**
 * Reads and validates the authorization flags and the files that they name. All errors are
 * reported, with the messages of kube-apiserver.
 */
import type { Gates } from '../api/gates.ts'
import { type AbacRule, readAbacPolicy } from './files/abac.ts'
import {
  type AuthorizationConfiguration,
  type AuthorizerConfiguration,
  authorizerTypes,
  readAuthorizationConfiguration,
  rereadAuthorizationConfiguration,
} from './files/authorization.ts'
import type { AuthorizationWebhook } from './files/authorization-webhook.ts'
import type { FileRead } from './files/config-file.ts'
import { readKubeconfig } from './files/kubeconfig.ts'
import type { ClientConfig } from '../net/outbound/kubeconfig.ts'
import { readFlagBytes, readFlagFile } from './flag-file.ts'
import type { Values } from './values.ts'

/** Names of the flags that this module reads. */
type AuthorizationFlagName =
  | 'authorization-config'
  | 'authorization-policy-file'
  | (typeof legacyFlags)[number]

type AuthorizationValues = Pick<
  Values<AuthorizationFlagName>,
  'string' | 'slice' | 'durationMs' | 'isGiven' | 'fault'
>

export type AuthorizationConfig = {
  /** The authorizers, in the order in which they are called. */
  readonly authorizers: readonly AuthorizerConfig[]
  /**
   * The file that configures the authorizers, which is reloaded when it changes. Null if they are
   * configured by flags.
   */
  readonly file: AuthorizationFile | null
}

/**
 * The --authorization-config file as read at startup. The server watches it and reloads it when its
 * content differs from `bytes`.
 */
export type AuthorizationFile = {
  readonly path: string
  /** The content of the file whose configuration is currently in use. */
  readonly bytes: Buffer
  readonly initial: AuthorizationConfiguration
}

export type AuthorizerConfig =
  | { readonly type: 'Node' | 'RBAC' | 'AlwaysAllow' | 'AlwaysDeny'; readonly name: string }
  | { readonly type: 'ABAC'; readonly name: string; readonly rules: readonly AbacRule[] }
  | WebhookConfig

export type WebhookConfig = {
  readonly type: 'Webhook'
  readonly name: string
  readonly webhook: AuthorizationWebhook
  readonly kubeconfig: ClientConfig
}

export function readAuthorization(
  values: AuthorizationValues,
  { gates, warn }: { readonly gates: Gates; readonly warn: (text: string) => void },
): AuthorizationConfig {
  const path = values.string('authorization-config')
  const file = path === '' ? null : readFile(values, path, gates)
  const chosen = path === '' ? readModes(values) : (file?.initial.authorizers ?? [])
  const policyPath = values.string('authorization-policy-file')
  const authorizers = chosen.flatMap((one) => build(values, one, { policyPath, warn }))
  return { authorizers, file }
}

export type RereadAuthorizationOptions = {
  readonly gates: Gates
  /** The authorizers with which the server started. */
  readonly initial: readonly AuthorizerConfig[]
}

/**
 * Reads the file again after it has changed, with the kubeconfigs that it names. The authorizers
 * Node, RBAC and ABAC cannot be added or removed while the server runs, because they have state. As
 * in kube-apiserver, only the first error is reported.
 */
export async function rereadAuthorization(
  bytes: Buffer,
  { gates, initial }: RereadAuthorizationOptions,
): Promise<FileRead<readonly AuthorizerConfig[]>> {
  const requiredTypes = initial.flatMap(({ type }) => (type === 'Webhook' ? [] : [type]))
  const read = await rereadAuthorizationConfiguration(bytes, gates, requiredTypes)
  if ('fault' in read) return read
  const faults: string[] = []
  const refuse = (why: string): void => void faults.push(why)
  const authorizers = read.value.authorizers.flatMap((one) => rebuild(one, initial, refuse))
  const [fault] = faults
  return fault === undefined ? { value: authorizers } : { fault }
}

function rebuild(
  one: AuthorizerConfiguration,
  initial: readonly AuthorizerConfig[],
  refuse: (why: string) => void,
): AuthorizerConfig[] {
  if (one.type === 'Webhook') return buildWebhook(one, refuse)
  if (one.type === 'AlwaysAllow' || one.type === 'AlwaysDeny')
    return [{ type: one.type, name: one.name }]
  const kept = initial.filter(({ type }) => type === one.type)
  if (kept.length === 0) {
    refuse(
      `authorizer type ${one.type} is not allowed if it was not enabled at initial server startup`,
    )
  }
  return kept
}

/**
 * Whether --authorization-mode contains AlwaysAllow. If it does, anonymous requests are not
 * allowed. AlwaysAllow in a configuration file has no such effect.
 */
export const isOpenByFlags = ({ authorizers, file }: AuthorizationConfig): boolean =>
  file === null && authorizers.some(({ type }) => type === 'AlwaysAllow')

const legacyFlags = [
  'authorization-mode',
  'authorization-webhook-config-file',
  'authorization-webhook-version',
  'authorization-webhook-cache-authorized-ttl',
  'authorization-webhook-cache-unauthorized-ttl',
] as const

function readFile(
  values: AuthorizationValues,
  path: string,
  gates: Gates,
): AuthorizationFile | null {
  if (!gates.isOn('StructuredAuthorizationConfiguration')) {
    const gate = 'StructuredAuthorizationConfiguration feature flag'
    values.fault(`--authorization-config cannot be used without enabling ${gate}`)
    return null
  }
  if (legacyFlags.some((flag) => values.isGiven(flag))) {
    const others = '--authorization-mode or --authorization-webhook-* flags are defined'
    values.fault(`--authorization-config can not be specified when ${others}`)
    return null
  }
  const bytes = readFlagBytes(values, path)
  if (bytes === undefined) return null
  const read = readAuthorizationConfiguration(bytes, gates)
  if (!('fault' in read)) return { path, bytes, initial: read.value }
  values.fault(read.fault)
  return null
}

/** Timeout of a webhook that is configured by flags. The value is that of kube-apiserver. */
const WEBHOOK_TIMEOUT_MS = 30_000

function readModes(values: AuthorizationValues): readonly AuthorizerConfiguration[] {
  const given = values.slice('authorization-mode')
  const isUnreadable = given.length === 0 && values.string('authorization-mode') !== ''
  if (isUnreadable) return []
  const modes = given.length === 0 ? ['AlwaysAllow'] : given
  const webhookPath = values.string('authorization-webhook-config-file')
  const webhook: AuthorizationWebhook = {
    authorizedMs: values.durationMs('authorization-webhook-cache-authorized-ttl'),
    unauthorizedMs: values.durationMs('authorization-webhook-cache-unauthorized-ttl'),
    timeoutMs: WEBHOOK_TIMEOUT_MS,
    reviewVersion: values.string('authorization-webhook-version') === 'v1' ? 'v1' : 'v1beta1',
    failurePolicy: 'NoOpinion',
    connection: { type: 'KubeConfigFile', path: webhookPath },
    conditions: [],
  }
  const faults = modeFaults(modes, {
    policyPath: values.string('authorization-policy-file'),
    webhookPath,
  })
  for (const fault of faults) values.fault(fault)
  if (faults.length > 0) return []
  if (modes.includes('Webhook')) checkReviewVersion(values)
  return modes.flatMap((mode): AuthorizerConfiguration[] => {
    const type = authorizerTypes.find((one) => one === mode)
    if (type === undefined) return []
    return [
      type === 'Webhook' ? { type, name: 'default', webhook } : { type, name: type.toLowerCase() },
    ]
  })
}

type ModePaths = { readonly policyPath: string; readonly webhookPath: string }

function modeFaults(modes: readonly string[], { policyPath, webhookPath }: ModePaths): string[] {
  const faults = modes.flatMap((mode) => {
    if (!authorizerTypes.some((type) => type === mode)) {
      return [`authorization-mode ${JSON.stringify(mode)} is not a valid mode`]
    }
    if (mode === 'ABAC' && policyPath === '')
      return ["authorization-mode ABAC's authorization policy file not passed"]
    if (mode === 'Webhook' && webhookPath === '') {
      return ["authorization-mode Webhook's authorization config file not passed"]
    }
    return []
  })
  if (policyPath !== '' && !modes.includes('ABAC')) {
    faults.push('cannot specify --authorization-policy-file without mode ABAC')
  }
  if (webhookPath !== '' && !modes.includes('Webhook')) {
    faults.push('cannot specify --authorization-webhook-config-file without mode Webhook')
  }
  if (new Set(modes).size < modes.length) {
    const shown = modes.map((mode) => JSON.stringify(mode)).join(' ')
    faults.push(`authorization-mode [${shown}] has mode specified more than once`)
  }
  return faults
}

function checkReviewVersion(values: AuthorizationValues): void {
  const version = values.string('authorization-webhook-version')
  if (version === 'v1' || version === 'v1beta1') return
  const known = 'supported versions are "v1", "v1beta1"'
  const why = `unsupported webhook authorizer version ${JSON.stringify(version)}, ${known}`
  values.fault(`invalid authorization config: ${why}`)
}

/** Reads the files that an authorizer needs: the ABAC policy, or the kubeconfig of a webhook. */
function build(
  values: AuthorizationValues,
  one: AuthorizerConfiguration,
  { policyPath, warn }: { readonly policyPath: string; readonly warn: (text: string) => void },
): AuthorizerConfig[] {
  const invalid = { fault: (text: string) => values.fault(`invalid authorization config: ${text}`) }
  if (one.type === 'Webhook') return buildWebhook(one, invalid.fault)
  if (one.type !== 'ABAC') return [{ type: one.type, name: one.name }]
  const text = readFlagFile(invalid, policyPath)
  if (text === undefined) return []
  const read = readAbacPolicy(text, policyPath)
  for (const warning of read.warnings ?? []) warn(warning)
  if ('fault' in read) {
    invalid.fault(read.fault)
    return []
  }
  return [{ type: 'ABAC', name: one.name, rules: read.rules }]
}

type WebhookConfiguration = AuthorizerConfiguration & { readonly type: 'Webhook' }

function buildWebhook(
  { type, name, webhook }: WebhookConfiguration,
  refuse: (why: string) => void,
): AuthorizerConfig[] {
  if (webhook.connection.type === 'InClusterConfig') {
    // kube-apiserver accepts InClusterConfig when it reads the file, but panics later.
    refuse('connectionInfo.type InClusterConfig is not supported: use KubeConfigFile')
    return []
  }
  const kubeconfig = readKubeconfig(webhook.connection.path)
  if (!('fault' in kubeconfig)) return [{ type, name, webhook, kubeconfig }]
  refuse(kubeconfig.fault)
  return []
}
