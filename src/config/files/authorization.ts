/**
 * Reads the file of `--authorization-config`, which configures the chain of authorizers. Its kind
 * is AuthorizationConfiguration (apiserver.config.k8s.io). v1alpha1, v1beta1 and v1 have the same
 * fields.
 */
import { aggregate, describeFaults } from '../../api/aggregate.ts'
import {
  duplicate,
  type FieldFault,
  invalidValue,
  notSupported,
  required,
} from '../../api/field-fault.ts'
import type { Gates } from '../../api/gates.ts'
import { checkDnsSubdomain } from '../../api/names.ts'
import { type Fields, fieldsOf, isFields, itemsOf, textOf } from '../../api/object.ts'
import {
  type AuthorizationWebhook,
  checkWebhook,
  type MatchCompiler,
  matchCompiler,
  prepareWebhook,
  readWebhookFields,
  type WebhookFields,
} from './authorization-webhook.ts'
import {
  type ConfigFileType,
  type FileRead,
  readConfigFile,
  rereadConfigFile,
} from './config-file.ts'
import { authorizationScheme } from './schemes.ts'

export const authorizerTypes = [
  'ABAC',
  'AlwaysAllow',
  'AlwaysDeny',
  'Node',
  'RBAC',
  'Webhook',
] as const

type AuthorizerType = (typeof authorizerTypes)[number]

export type AuthorizerConfiguration =
  | { readonly type: Exclude<AuthorizerType, 'Webhook'>; readonly name: string }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: AuthorizationWebhook }

export type AuthorizationConfiguration = {
  readonly authorizers: readonly AuthorizerConfiguration[]
}

/** Reads the file of `--authorization-config` at startup. */
export const readAuthorizationConfiguration = (
  bytes: Buffer,
  gates: Gates,
): FileRead<AuthorizationConfiguration> => withPrefix(readConfigFile(bytes, fileType(gates, [])))

/**
 * Reads the file again while the server runs, without blocking the event loop. `requiredTypes` are
 * the types of the authorizers at startup, without Webhook. The file must still contain an
 * authorizer of each of these types.
 */
export const rereadAuthorizationConfiguration = async (
  bytes: Buffer,
  gates: Gates,
  requiredTypes: readonly string[],
): Promise<FileRead<AuthorizationConfiguration>> =>
  withPrefix(await rereadConfigFile(bytes, fileType(gates, requiredTypes)))

function withPrefix(
  read: FileRead<AuthorizationConfiguration>,
): FileRead<AuthorizationConfiguration> {
  if (!('fault' in read) || read.stage === undefined) return read
  return {
    fault: `failed to load AuthorizationConfiguration from file: ${read.fault}`,
    stage: read.stage,
  }
}

function fileType(
  gates: Gates,
  requiredTypes: readonly string[],
): ConfigFileType<AuthorizationConfiguration> {
  const compiler = matchCompiler(gates)
  return {
    scheme: authorizationScheme,
    kind: 'AuthorizationConfiguration',
    ofEmpty: {},
    prepare: async ({ authorizers }) => {
      for (const { webhook } of itemsOf(authorizers))
        await prepareWebhook(fieldsOf(webhook), compiler)
    },
    read: (fields) => checkAuthorization(fields, compiler, requiredTypes),
  }
}

function checkAuthorization(
  { authorizers }: Fields,
  compiler: MatchCompiler,
  requiredTypes: readonly string[],
): FileRead<AuthorizationConfiguration> {
  const items: Item[] = []
  for (const { type, name, webhook } of itemsOf(authorizers)) {
    const read = isFields(webhook) ? readWebhookFields(webhook) : undefined
    if (read !== undefined && 'fault' in read) return { fault: read.fault, stage: 'decoding' }
    items.push({ type: textOf(type), name: textOf(name), webhook: read })
  }
  const { value, faults } = checkAuthorizers(items, compiler)
  if (faults.length > 0) return { fault: describeFaults(faults) }
  const misnamed = [...items.flatMap(nameFaults), ...missingFaults(items, requiredTypes)]
  return misnamed.length > 0 ? { fault: aggregate(misnamed) } : { value: { authorizers: value } }
}

type Item = {
  readonly type: string
  readonly name: string
  readonly webhook: WebhookFields | undefined
}

type CheckedAuthorizers = {
  readonly value: readonly AuthorizerConfiguration[]
  readonly faults: readonly FieldFault[]
}

/**
 * Validates the authorizers. If the type of an authorizer is invalid, its other fields are not
 * validated. If there are errors, the caller must not use the returned value.
 */
function checkAuthorizers(items: readonly Item[], compiler: MatchCompiler): CheckedAuthorizers {
  if (items.length === 0) {
    return {
      value: [],
      faults: [required('authorizers', 'at least one authorization mode must be defined')],
    }
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
      return [
        ...named,
        invalidValue(`${path}.webhook`, 'non-null', 'may only be specified when type=Webhook'),
      ]
    }
    if (webhook === undefined)
      return [...named, required(`${path}.webhook`, 'required when type=Webhook')]
    const checked = checkWebhook(webhook, path, compiler)
    value.push({ type, name, webhook: checked.webhook })
    return [...named, ...checked.faults]
  })
  return { value, faults }
}

const isAuthorizerType = (type: string): type is AuthorizerType =>
  authorizerTypes.some((one) => one === type)

function nameRuleFaults(name: string, path: string, names: ReadonlySet<string>): FieldFault[] {
  if (name === '') return [required(path)]
  if (names.has(name)) return [duplicate(path, name)]
  const whys = checkDnsSubdomain(name)
  return whys.length === 0
    ? []
    : [invalidValue(path, name, `authorizer name is invalid: ${whys.join(', ')}`)]
}

/**
 * Validates the name of an authorizer. Only a webhook can have a name that differs from its type.
 */
function nameFaults({ type, name }: Item): string[] {
  const expected = type.toLowerCase()
  if (type === 'Webhook' || name === expected) return []
  return [`expected name ${expected} for authorizer ${type} instead of ${name}`]
}

function missingFaults(items: readonly Item[], requiredTypes: readonly string[]): string[] {
  const missing = requiredTypes.filter((type) => !items.some((item) => item.type === type))
  return missing.length === 0 ? [] : [`missing required types: [${missing.toSorted().join(' ')}]`]
}
