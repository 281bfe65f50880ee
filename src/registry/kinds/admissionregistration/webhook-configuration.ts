/** Rules for MutatingWebhookConfiguration and ValidatingWebhookConfiguration. */
import {
  checked,
  duplicate,
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  required,
} from '../../../api/field-fault.ts'
import { defaultGates, type Gates } from '../../../api/gates.ts'
import { goStrings } from '../../../api/go-value.ts'
import { checkDns1035Label, checkDnsSubdomain } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import { inPartsOf, inTurns, type Turns } from '../../../objects/cel/turns.ts'
import { repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateLabelSelector } from '../../rules/label-selector.ts'
import { validateClientConfig } from '../../rules/webhook.ts'
import { eachOf } from './each.ts'
import { Expressions, expressionsIn } from './expression.ts'
import {
  validateMatchConditions,
  validateMatchPolicy,
  validateOneOf,
  validateRule,
} from './matching.ts'

const TIMEOUT_SECONDS_MAX = 30
export const failurePolicies = ['Fail', 'Ignore']
const sideEffects = ['None', 'NoneOnDryRun']
const reviewVersions = ['v1', 'v1beta1']
export const reinvocationPolicies = ['IfNeeded', 'Never']

export const validatingWebhookRules = rulesWith(() => [])

export const mutatingWebhookRules = rulesWith((webhook, path) =>
  validateOneOf(webhook['reinvocationPolicy'], reinvocationPolicies, `${path}.reinvocationPolicy`),
)

type ValidateOwn = (webhook: Fields, path: string) => FieldFault[]

function rulesWith(validateOwn: ValidateOwn): KindRules {
  return {
    strategy: {
      finalizersNeedNoDomain: true,
      updateChecks: ['metadata', 'rules'],
      needsResourceVersion: true,
      generation: { fields: ['webhooks'], equality: 'exact' },
    },
    validate: () => [],
    // Validation runs in time slices, so that compiling the CEL expressions of match conditions
    // does not block other requests.
    validateInSlices: (object, current, tools, gates = defaultGates) =>
      inTurns(
        (slice) =>
          validate(object, { validateOwn, before: itemsOf(current?.['webhooks']), gates, slice }),
        tools,
      ),
  }
}

type Context = {
  readonly gates: Gates
  readonly validateOwn: ValidateOwn
  readonly before: readonly Fields[]
  readonly slice: Slice
}

function* validate(
  object: KubeObject,
  { validateOwn, before, gates, slice }: Context,
): Turns<FieldFault[]> {
  const webhooks = itemsOf(object['webhooks'])
  const areKnown = areSameConditions(webhooks, before)
  const expressions = new Expressions(slice, {
    stored: new Set(before.flatMap(expressionsIn)),
    gates,
  })
  const repeats = repeatsIn(webhooks.map(({ name }) => textOf(name)))
  return yield* eachOf(webhooks, slice, function* (webhook, at) {
    const path = `webhooks[${at}]`
    const name = textOf(webhook['name'])
    const isRepeated = name !== '' && repeats.has(at)
    const conditions = areKnown ? undefined : webhook['matchConditions']
    return [
      ...(yield* inPartsOf(() => validateWebhook(webhook, path, validateOwn), slice)),
      ...(yield* validateMatchConditions(conditions, `${path}.matchConditions`, expressions)),
      ...(yield* inPartsOf(
        () =>
          validateVersions(
            textsOf(webhook['admissionReviewVersions']),
            `${path}.admissionReviewVersions`,
          ),
        slice,
      )),
      ...(isRepeated ? [duplicate(`${path}.name`, name)] : []),
    ]
  })
}

/** Whether all match conditions are unchanged. Unchanged conditions are not validated again. */
const areSameConditions = (webhooks: readonly Fields[], before: readonly Fields[]): boolean =>
  webhooks.length === before.length &&
  webhooks.every((webhook, at) =>
    isSame(webhook['matchConditions'], before[at]?.['matchConditions']),
  )

function validateWebhook(webhook: Fields, path: string, validateOwn: ValidateOwn): FieldFault[] {
  return [
    ...validateName(textOf(webhook['name']), `${path}.name`),
    ...faultsOfEach(itemsOf(webhook['rules']), (rule, at) =>
      validateRule(rule, `${path}.rules[${at}]`),
    ),
    ...validateOneOf(webhook['failurePolicy'], failurePolicies, `${path}.failurePolicy`),
    ...validateMatchPolicy(webhook['matchPolicy'], `${path}.matchPolicy`),
    ...validateSideEffects(webhook['sideEffects'], `${path}.sideEffects`),
    ...validateTimeout(webhook['timeoutSeconds'], `${path}.timeoutSeconds`),
    ...validateLabelSelector(fieldsOf(webhook['namespaceSelector']), `${path}.namespaceSelector`),
    ...validateLabelSelector(fieldsOf(webhook['objectSelector']), `${path}.objectSelector`),
    ...validateOwn(webhook, path),
    ...validateClientConfig(fieldsOf(webhook['clientConfig']), `${path}.clientConfig`),
  ]
}

function validateName(name: string, path: string): FieldFault[] {
  if (name === '') return [required(path)]
  const faults = checked(path, name, checkDnsSubdomain)
  if (faults.length > 0 || name.split('.').length >= 3) return faults
  return [
    invalidValue(path, name, 'should be a domain with at least three segments separated by dots'),
  ]
}

function validateSideEffects(effects: Json | undefined, path: string): FieldFault[] {
  if (effects === undefined)
    return [required(path, `must specify one of ${sideEffects.join(', ')}`)]
  return validateOneOf(effects, sideEffects, path)
}

function validateTimeout(seconds: Json | undefined, path: string): FieldFault[] {
  if (typeof seconds !== 'number' || (seconds >= 1 && seconds <= TIMEOUT_SECONDS_MAX)) return []
  return [
    invalidValue(
      path,
      seconds,
      `the timeout value must be between 1 and ${TIMEOUT_SECONDS_MAX} seconds`,
    ),
  ]
}

function validateVersions(versions: readonly string[], path: string): FieldFault[] {
  const known = reviewVersions.join(', ')
  if (versions.length === 0) return [required(path, `must specify one of ${known}`)]
  const repeats = repeatsIn(versions)
  const faults = faultsOfEach(versions, (version, at) =>
    repeats.has(at)
      ? [invalidValue(`${path}[${at}]`, version, 'duplicate version')]
      : checked(`${path}[${at}]`, version, checkDns1035Label),
  )
  if (versions.some((version) => reviewVersions.includes(version))) return faults
  return [
    ...faults,
    invalidShown(path, goStrings(versions), `must include at least one of ${known}`),
  ]
}
