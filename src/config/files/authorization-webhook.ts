/**
 * Reads the configuration of webhook authorizers: their connection, caching, failure policy and
 * match conditions.
 */
import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import {
  duplicate,
  type FieldFault,
  invalidValue,
  notSupported,
  notSupportedShown,
  required,
  tooMany,
} from '../../api/field-fault.ts'
import type { Gates } from '../../api/gates.ts'
import { goPointer, goStruct } from '../../api/go-value.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { accessReviewEnvironment } from '../../objects/cel/access.ts'
import { storedVersion } from '../../objects/cel/kubernetes.ts'
import { formatDuration, parseDuration } from '../../lib/time/duration.ts'
import { goFileError } from './go-file-error.ts'
import { type Expression, ExpressionCompiler, onlyBoolShown } from './expressions.ts'
import type { FileFault } from './decode-file.ts'

const SECOND_MS = 1000
const TIMEOUT_MS_MAX = 30 * SECOND_MS
const AUTHORIZED_MS_DEFAULT = 300 * SECOND_MS
const UNAUTHORIZED_MS_DEFAULT = 30 * SECOND_MS
/**
 * Maximum number of match conditions, as in kube-apiserver. Every request can require the
 * evaluation of all conditions.
 */
const CONDITIONS_MAX = 64
export type AuthorizationWebhook = {
  readonly authorizedMs: number
  readonly unauthorizedMs: number
  readonly timeoutMs: number
  readonly reviewVersion: 'v1' | 'v1beta1'
  readonly failurePolicy: 'NoOpinion' | 'Deny'
  readonly connection:
    | { readonly type: 'InClusterConfig' }
    | { readonly type: 'KubeConfigFile'; readonly path: string }
  /** Conditions for calling the webhook. It is called only if all conditions evaluate to true. */
  readonly conditions: readonly Expression[]
}

/** The fields of a webhook after defaults are set and before they are validated. */
export type WebhookFields = {
  readonly authorizedMs: number
  readonly unauthorizedMs: number
  readonly timeoutMs: number
  readonly reviewVersion: string
  readonly matchReviewVersion: string
  readonly failurePolicy: string
  readonly connection: { readonly type: string; readonly kubeconfigPath: string | null }
  readonly conditions: readonly string[]
}

/** Reads the fields and sets defaults. An invalid duration counts as a decoding error. */
export function readWebhookFields(webhook: Fields): WebhookFields | FileFault {
  const [authorized, timeout, unauthorized] = ['authorizedTTL', 'timeout', 'unauthorizedTTL'].map(
    (name) => {
      const text = webhook[name]
      return text === undefined ? { ms: 0 } : parseDuration(textOf(text))
    },
  )
  for (const one of [authorized, timeout, unauthorized])
    if (one !== undefined && 'fault' in one) return one
  const connection = fieldsOf(webhook['connectionInfo'])
  const path = connection['kubeConfigFile']
  return {
    authorizedMs: msOf(authorized) || AUTHORIZED_MS_DEFAULT,
    unauthorizedMs: msOf(unauthorized) || UNAUTHORIZED_MS_DEFAULT,
    timeoutMs: msOf(timeout),
    reviewVersion: textOf(webhook['subjectAccessReviewVersion']),
    matchReviewVersion: textOf(webhook['matchConditionSubjectAccessReviewVersion']),
    failurePolicy: textOf(webhook['failurePolicy']),
    connection: {
      type: textOf(connection['type']),
      kubeconfigPath: typeof path === 'string' ? path : null,
    },
    conditions: itemsOf(webhook['matchConditions']).map(({ expression }) => textOf(expression)),
  }
}

const msOf = (duration: ReturnType<typeof parseDuration> | undefined): number =>
  duration !== undefined && 'ms' in duration ? duration.ms : 0

type CheckedWebhook = {
  readonly webhook: AuthorizationWebhook
  readonly faults: readonly FieldFault[]
}

/**
 * Validates a webhook. If there are errors, the caller must not use the returned webhook. `path` is
 * the field path of the authorizer. As in kube-apiserver, error messages add the name of the field
 * to it directly, without `webhook` in between.
 */
export function checkWebhook(
  fields: WebhookFields,
  path: string,
  compiler: MatchCompiler,
): CheckedWebhook {
  const { authorizedMs, unauthorizedMs, timeoutMs, connection } = fields
  const conditions = compileConditions(fields.conditions, `${path}.matchConditions`, compiler)
  const faults = [
    ...timeFaults(fields, path),
    ...choiceFaults(`${path}.subjectAccessReviewVersion`, fields.reviewVersion, ['v1', 'v1beta1']),
    ...matchVersionFaults(fields, `${path}.matchConditionSubjectAccessReviewVersion`),
    ...choiceFaults(`${path}.failurePolicy`, fields.failurePolicy, ['NoOpinion', 'Deny']),
    ...connectionFaults(connection, `${path}.connectionInfo`),
    ...conditions.faults,
  ]
  const webhook: AuthorizationWebhook = {
    authorizedMs,
    unauthorizedMs,
    timeoutMs,
    reviewVersion: fields.reviewVersion === 'v1beta1' ? 'v1beta1' : 'v1',
    failurePolicy: fields.failurePolicy === 'Deny' ? 'Deny' : 'NoOpinion',
    connection:
      connection.type === 'InClusterConfig'
        ? { type: 'InClusterConfig' }
        : { type: 'KubeConfigFile', path: connection.kubeconfigPath ?? '' },
    conditions: conditions.expressions,
  }
  return { webhook, faults }
}

function timeFaults(
  { timeoutMs, authorizedMs, unauthorizedMs }: WebhookFields,
  path: string,
): FieldFault[] {
  const faults: FieldFault[] = []
  if (timeoutMs === 0) faults.push(required(`${path}.timeout`))
  else if (timeoutMs > TIMEOUT_MS_MAX || timeoutMs < 0) {
    faults.push(
      invalidValue(`${path}.timeout`, formatDuration(timeoutMs), 'must be > 0s and <= 30s'),
    )
  }
  for (const [name, ms] of [
    ['authorizedTTL', authorizedMs],
    ['unauthorizedTTL', unauthorizedMs],
  ] as const) {
    if (ms < 0) faults.push(invalidValue(`${path}.${name}`, formatDuration(ms), 'must be > 0s'))
  }
  return faults
}

function choiceFaults(path: string, value: string, choices: readonly string[]): FieldFault[] {
  if (value === '') return [required(path)]
  return choices.includes(value) ? [] : [notSupported(path, value, choices)]
}

function matchVersionFaults(
  { matchReviewVersion, conditions }: WebhookFields,
  path: string,
): FieldFault[] {
  if (matchReviewVersion !== '') return choiceFaults(path, matchReviewVersion, ['v1'])
  return conditions.length === 0
    ? []
    : [required(path, 'required if match conditions are specified')]
}

function connectionFaults(
  { type, kubeconfigPath }: WebhookFields['connection'],
  path: string,
): FieldFault[] {
  const place = `${path}.kubeConfigFile`
  if (type === '') return [required(`${path}.type`)]
  if (type === 'InClusterConfig') {
    if (kubeconfigPath === null) return []
    return [invalidValue(place, kubeconfigPath, 'can only be set when type=KubeConfigFile')]
  }
  if (type === 'KubeConfigFile') return kubeconfigFaults(kubeconfigPath ?? '', place)
  const shown = goStruct('apiserver.WebhookConnectionInfo', {
    Type: quote(type),
    KubeConfigFile: goPointer('string', kubeconfigPath !== null),
  })
  return [notSupportedShown(`${path}.type`, shown, ['InClusterConfig', 'KubeConfigFile'])]
}

function kubeconfigFaults(file: string, path: string): FieldFault[] {
  if (file === '') return [required(path)]
  if (!isAbsolute(file)) return [invalidValue(path, file, 'must be an absolute path')]
  try {
    return statSync(file).isFile() ? [] : [invalidValue(path, file, 'must be a regular file')]
  } catch (error) {
    return [invalidValue(path, file, `error loading file: ${goFileError('stat', file, error)}`)]
  }
}

export type MatchCompiler = ExpressionCompiler<'request'>

export function matchCompiler(gates: Gates): MatchCompiler {
  const hasSelectors = gates.isOn('AuthorizeWithSelectors')
  // Unlike expressions in new objects, expressions in this file can use all CEL libraries of the
  // release.
  const version = storedVersion(gates.release)
  return new ExpressionCompiler({ request: accessReviewEnvironment(version, { hasSelectors }) })
}

/** Compiles the match conditions of a webhook without blocking the event loop. */
export async function prepareWebhook(
  { matchConditions }: Fields,
  compiler: MatchCompiler,
): Promise<void> {
  const conditions = itemsOf(matchConditions).slice(0, CONDITIONS_MAX)
  await compiler.prepare(
    'request',
    conditions.map(({ expression }) => textOf(expression)).filter(Boolean),
  )
}

type Conditions = {
  readonly expressions: readonly Expression[]
  readonly faults: readonly FieldFault[]
}

function compileConditions(
  conditions: readonly string[],
  path: string,
  compiler: MatchCompiler,
): Conditions {
  if (conditions.length > CONDITIONS_MAX) {
    return { expressions: [], faults: [tooMany(path, conditions.length, CONDITIONS_MAX)] }
  }
  const expressions: Expression[] = []
  const faults = conditions.flatMap((text, at) => {
    const place = { text, path: `${path}[${at}].expression` }
    if (text.trim() === '') return [required(place.path)]
    if (conditions.indexOf(text) < at) return [duplicate(place.path, text)]
    const compiled = compiler.compile('request', place, onlyBoolShown)
    if ('fault' in compiled) return [compiled.fault]
    expressions.push(compiled)
    return []
  })
  return { expressions, faults }
}
