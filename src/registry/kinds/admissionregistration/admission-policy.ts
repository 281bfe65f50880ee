/**
 * Rules for ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding.
 * `admission/policies/param-access.ts` checks whether the user who writes them may read the
 * parameters.
 */
import { defaultGates, type Gates } from '../../../api/gates.ts'
import { quote } from '../../../api/quote.ts'
import {
  checked,
  duplicate,
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { goStrings, shownItems } from '../../../api/go-value.ts'
import { checkQualifiedName } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import { inTurns, type Turns } from '../../../objects/cel/turns.ts'
import { bool, nullType, string } from '../../../objects/cel/types.ts'
import { repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateConditions } from '../../rules/conditions.ts'
import { eachOf } from './each.ts'
import { Expressions, expressionsIn } from './expression.ts'
import { validateOneOf } from './matching.ts'
import { missing, validateBindingSpec, validatePolicySpec } from './policy.ts'

const AUDIT_ANNOTATIONS_MAX = 20
const VALUE_EXPRESSION_BYTES_MAX = 5 * 1024
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const actions = ['Audit', 'Deny', 'Warn']

export const admissionPolicyRules: KindRules = {
  strategy: {
    finalizersNeedNoDomain: true,
    updateChecks: ['metadata', 'rules'],
    needsResourceVersion: true,
    statusKeeps: 'metadata',
    generation: { fields: ['spec'] },
  },
  validate: () => [],
  // Validation runs in time slices, so that compiling CEL expressions does not block other
  // requests.
  validateInSlices: (policy, current, tools, gates = defaultGates) =>
    inTurns((slice) => validatePolicy(policy, current, { gates, slice }), tools),
  status: { validateUpdate: validateStatus },
}

export const admissionPolicyBindingRules: KindRules = {
  strategy: {
    finalizersNeedNoDomain: true,
    updateChecks: ['metadata', 'rules'],
    needsResourceVersion: true,
    generation: { fields: ['spec'] },
  },
  validate: validateBinding,
}

function* validatePolicy(
  policy: KubeObject,
  current: KubeObject | undefined,
  { gates, slice }: { readonly gates: Gates; readonly slice: Slice },
): Turns<FieldFault[]> {
  const spec = fieldsOf(policy['spec'])
  const before = current && fieldsOf(current['spec'])
  const { name = '' } = policy.metadata
  const expressions = new Expressions(slice, {
    hasParams: spec['paramKind'] !== undefined,
    hasVariables: itemsOf(spec['variables']).length > 0,
    stored: new Set(before && expressionsIn(before)),
    gates,
  })
  return [
    ...(yield* validatePolicySpec(spec, { before, expressions })),
    ...validateNotEmpty(spec),
    ...(yield* eachOf(itemsOf(spec['validations']), slice, (one, at) =>
      validateValidation(one, `spec.validations[${at}]`, expressions),
    )),
    ...(yield* validateAuditAnnotations(itemsOf(spec['auditAnnotations']), name, expressions)),
  ]
}

function validateNotEmpty(spec: Fields): FieldFault[] {
  const lists = ['validations', 'auditAnnotations']
  if (lists.some((list) => itemsOf(spec[list]).length > 0)) return []
  return lists.map((list) =>
    required(`spec.${list}`, 'validations or auditAnnotations must contain at least one item'),
  )
}

function* validateValidation(
  validation: Fields,
  path: string,
  expressions: Expressions,
): Turns<FieldFault[]> {
  const [message, expression] = [textOf(validation['message']), textOf(validation['expression'])]
  const faults =
    expression.trim() === ''
      ? [required(`${path}.expression`, missing)]
      : yield* expressions.check(expression, `${path}.expression`, { types: [bool] })
  faults.push(
    ...(yield* validateMessageExpression(
      textOf(validation['messageExpression']),
      path,
      expressions,
    )),
  )
  if (isBlank(message)) {
    faults.push(invalidValue(`${path}.message`, message, 'message must be non-empty if specified'))
  } else if (/[\r\n]/.test(message.trim())) {
    faults.push(invalidValue(`${path}.message`, message, 'message must not contain line breaks'))
  }
  const { reason } = validation
  return [
    ...faults,
    ...(reason === undefined ? [] : validateOneOf(reason, reasons, `${path}.reason`)),
  ]
}

function* validateMessageExpression(
  expression: string,
  above: string,
  expressions: Expressions,
): Turns<FieldFault[]> {
  const path = `${above}.messageExpression`
  if (isBlank(expression)) return [invalidValue(path, expression, 'must be non-empty if specified')]
  if (expression === '') return []
  return yield* expressions.check(expression, path, { types: [string], hasAuthorizer: false })
}

const isBlank = (text: string): boolean => text !== '' && text.trim() === ''

/**
 * Validates audit annotations. The key of an annotation is validated as it appears in the audit
 * log: with the name of the policy as its prefix.
 */
function* validateAuditAnnotations(
  annotations: readonly Fields[],
  policy: string,
  expressions: Expressions,
): Turns<FieldFault[]> {
  const path = 'spec.auditAnnotations'
  const keys = annotations.map(({ key }) => textOf(key))
  const repeats = repeatsIn(keys)
  const faults = yield* eachOf(annotations, expressions.slice, function* ({ valueExpression }, at) {
    const key = keys[at] ?? ''
    return [
      ...checked(`${path}[${at}].key`, `${policy}/${key}`, checkQualifiedName),
      ...(yield* validateValueExpression(
        textOf(valueExpression),
        `${path}[${at}].valueExpression`,
        expressions,
      )),
      ...(repeats.has(at) ? [duplicate(`${path}[${at}].key`, key)] : []),
    ]
  })
  if (annotations.length <= AUDIT_ANNOTATIONS_MAX) return faults
  const why = `must not have more than ${AUDIT_ANNOTATIONS_MAX} auditAnnotations`
  return [invalidShown(path, goAnnotations(annotations), why), ...faults]
}

function goAnnotations(annotations: readonly Fields[]): string {
  const type = 'admissionregistration.AuditAnnotation'
  const show = ({ key, valueExpression }: Fields): string =>
    `${type}{Key:${quote(textOf(key))}, ValueExpression:${quote(textOf(valueExpression))}}`
  return `[]${type}{${shownItems(annotations, show)}}`
}

function* validateValueExpression(
  expression: string,
  path: string,
  expressions: Expressions,
): Turns<FieldFault[]> {
  const text = expression.trim()
  if (text === '') return [required(path, 'valueExpression is not specified')]
  if (Buffer.byteLength(text) > VALUE_EXPRESSION_BYTES_MAX) {
    return [required(path, `must not exceed ${VALUE_EXPRESSION_BYTES_MAX} bytes in length`)]
  }
  return yield* expressions.check(text, path, { types: [string, nullType], shown: expression })
}

function validateStatus(policy: KubeObject): FieldFault[] {
  const status = fieldsOf(policy['status'])
  const warnings = itemsOf(fieldsOf(status['typeChecking'])['expressionWarnings'])
  return [
    ...faultsOfEach(warnings, ({ fieldRef, warning }, at) => {
      const path = `status.typeChecking.expressionWarnings[${at}]`
      return [
        ...(textOf(warning) === '' ? [required(`${path}.warning`)] : []),
        ...(textOf(fieldRef) === '' ? [required(`${path}.fieldRef`)] : []),
      ]
    }),
    ...validateConditions(status['conditions'], 'status.conditions'),
  ]
}

function validateBinding(binding: KubeObject): FieldFault[] {
  const spec = fieldsOf(binding['spec'])
  return [
    ...validateBindingSpec(spec),
    ...validateActions(textsOf(spec['validationActions']), 'spec.validationActions'),
  ]
}

function validateActions(given: readonly string[], path: string): FieldFault[] {
  if (given.length === 0) return [required(path, 'at least one validation action is required')]
  const repeats = repeatsIn(given)
  const faults = faultsOfEach(given, (action, at) => {
    if (!actions.includes(action)) return [notSupported(`${path}[${at}]`, action, actions)]
    return repeats.has(at) ? [duplicate(`${path}[${at}]`, action)] : []
  })
  if (!given.includes('Deny') || !given.includes('Warn')) return faults
  const why =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)'
  return [
    ...faults,
    invalidShown(path, goStrings(given, 'admissionregistration.ValidationAction'), why),
  ]
}
