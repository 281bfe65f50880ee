/**
 * `--authorization-config`: which authorizers there are, in their order. apiserver.config.k8s.io, v1alpha1, v1beta1 and v1, which have
 * the same fields.
 */
import { duplicate, type FieldFault, invalidValue, notSupported, required } from '../../api/field-fault.ts'
import type { Gates } from '../../api/gates.ts'
import { checkDnsSubdomain } from '../../api/names.ts'
import { type Fields, isFields, itemsOf, textOf } from '../../api/object.ts'
import {
  type AuthorizationWebhook,
  checkWebhook,
  readWebhookFields,
  type WebhookFields,
} from './authorization-webhook.ts'
import { type ConfigFileType, type FileRead, readConfigFile } from './config-file.ts'
import { aggregate, describeFaults } from './faults.ts'
import { authorizationScheme } from './schemes.ts'

export const authorizerTypes = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const

type AuthorizerType = (typeof authorizerTypes)[number]

export type AuthorizerConfiguration =
  | { readonly type: Exclude<AuthorizerType, 'Webhook'>; readonly name: string }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: AuthorizationWebhook }

export type AuthorizationConfiguration = { readonly authorizers: readonly AuthorizerConfiguration[] }

export type AuthorizationOptions = {
  readonly gates: Gates
  /** Of a file that changed while the server runs: the types that there were at the start, webhooks aside, which must all be there still. */
  readonly requiredTypes?: readonly string[]
}

export function readAuthorizationConfiguration(
  bytes: Buffer,
  { gates, requiredTypes = [] }: AuthorizationOptions,
): FileRead<AuthorizationConfiguration> {
  const type: ConfigFileType<AuthorizationConfiguration> = {
    scheme: authorizationScheme,
    kind: 'AuthorizationConfiguration',
    ofEmpty: {},
    read: (fields) => checkAuthorization(fields, gates, requiredTypes),
  }
  const read = readConfigFile(bytes, type)
  if (!('fault' in read) || read.stage === undefined) return read
  return { fault: `failed to load AuthorizationConfiguration from file: ${read.fault}`, stage: read.stage }
}

function checkAuthorization(
  { authorizers }: Fields,
  gates: Gates,
  requiredTypes: readonly string[],
): FileRead<AuthorizationConfiguration> {
  const items: Item[] = []
  for (const { type, name, webhook } of itemsOf(authorizers)) {
    const read = isFields(webhook) ? readWebhookFields(webhook) : undefined
    if (read !== undefined && 'fault' in read) return { fault: read.fault, stage: 'decoding' }
    items.push({ type: textOf(type), name: textOf(name), webhook: read })
  }
  const { value, faults } = checkAuthorizers(items, gates)
  if (faults.length > 0) return { fault: describeFaults(faults) }
  const misnamed = [...items.flatMap(nameFaults), ...missingFaults(items, requiredTypes)]
  return misnamed.length > 0 ? { fault: aggregate(misnamed) } : { value: { authorizers: value } }
}

type Item = { readonly type: string; readonly name: string; readonly webhook: WebhookFields | undefined }

type CheckedAuthorizers = { readonly value: readonly AuthorizerConfiguration[]; readonly faults: readonly FieldFault[] }

/** Of an authorizer whose type is wrong nothing else is told. The value counts only where there are no faults. */
function checkAuthorizers(items: readonly Item[], gates: Gates): CheckedAuthorizers {
  if (items.length === 0) {
    return { value: [], faults: [required('authorizers', 'at least one authorization mode must be defined')] }
  }
  const [types, names] = [new Set<string>(), new Set<string>()]
  const value: AuthorizerConfiguration[] = []
  const faults = items.flatMap(({ type, name, webhook }, at) => {
    const path = `authorizers[${at}]`
    if (type === '') return [required(`${path}.type`)]
    if (!isAuthorizerType(type)) return [notSupported(`${path}.type`, type, authorizerTypes)]
    if (type !== 'Webhook' && types.has(type)) return [duplicate(`${path}.type`, type)]
    types.add(type)
    const named = nameRuleFaults(name, `${path}.name`, names)
    names.add(name)
    if (type !== 'Webhook') {
      value.push({ type, name })
      if (webhook === undefined) return named
      return [...named, invalidValue(`${path}.webhook`, 'non-null', 'may only be specified when type=Webhook')]
    }
    if (webhook === undefined) return [...named, required(`${path}.webhook`, 'required when type=Webhook')]
    const checked = checkWebhook(webhook, path, gates)
    value.push({ type, name, webhook: checked.webhook })
    return [...named, ...checked.faults]
  })
  return { value, faults }
}

const isAuthorizerType = (type: string): type is AuthorizerType => authorizerTypes.some((one) => one === type)

function nameRuleFaults(name: string, path: string, names: ReadonlySet<string>): FieldFault[] {
  if (name === '') return [required(path)]
  if (names.has(name)) return [duplicate(path, name)]
  const whys = checkDnsSubdomain(name)
  return whys.length === 0 ? [] : [invalidValue(path, name, `authorizer name is invalid: ${whys.join(', ')}`)]
}

/** Only webhooks have names of their own. */
function nameFaults({ type, name }: Item): string[] {
  const expected = type.toLowerCase()
  if (type === 'Webhook' || name === expected) return []
  return [`expected name ${expected} for authorizer ${type} instead of ${name}`]
}

function missingFaults(items: readonly Item[], requiredTypes: readonly string[]): string[] {
  const missing = requiredTypes.filter((type) => !items.some((item) => item.type === type))
  return missing.length === 0 ? [] : [`missing required types: [${missing.toSorted().join(' ')}]`]
}
