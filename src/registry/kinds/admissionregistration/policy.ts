/** Rules that apply to both validating and mutating policies, and to their bindings. */
import {
  checked,
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidValue,
  required,
} from '../../../api/field-fault.ts'
import { checkDns1035Label, checkDnsSubdomain, checkPathSegment } from '../../../api/names.ts'
import { type Fields, fieldsOf, itemsOf, type Json, textOf, textsOf } from '../../../api/object.ts'
import { inPartsOf, type Turns } from '../../../objects/cel/turns.ts'
import { addAll } from '../../../lib/scheduling/long-lists.ts'
import { isEqualAs } from '../../rules/equality.ts'
import { validateLabelSelector } from '../../rules/label-selector.ts'
import { eachOf } from './each.ts'
import { type Expressions, isIdentifier } from './expression.ts'
import { validateMatchConditions, validateMatchResources, validateOneOf } from './matching.ts'
import { failurePolicies } from './webhook-configuration.ts'

/** Error message for a missing expression. */
export const missing = 'expression is not specified'

type Policy = {
  /** The stored policy. Undefined for a new policy. */
  readonly before: Fields | undefined
  readonly expressions: Expressions
  /** Operations that the policy can match. Undefined if all operations are allowed. */
  readonly operations?: readonly string[]
}

/**
 * Validates the fields that validating and mutating policies have in common. Validations and
 * mutations are validated elsewhere.
 */
export function* validatePolicySpec(
  spec: Fields,
  { before, expressions, operations }: Policy,
): Turns<FieldFault[]> {
  const areKnown =
    before !== undefined &&
    ['matchConditions', 'paramKind'].every((field) =>
      isEqualAs(
        'admissionregistration/v1 ValidatingAdmissionPolicySpec',
        { [field]: spec[field] },
        { [field]: before[field] },
      ),
    )
  return [
    ...validateOneOf(spec['failurePolicy'], failurePolicies, 'spec.failurePolicy'),
    ...(spec['paramKind'] === undefined
      ? []
      : validateParamKind(fieldsOf(spec['paramKind']), 'spec.paramKind')),
    ...(yield* inPartsOf(
      () => [
        ...validateConstraints(spec, 'spec.matchConstraints'),
        ...validateOperations(spec['matchConstraints'], operations, 'spec.matchConstraints'),
      ],
      expressions.slice,
    )),
    ...(areKnown
      ? []
      : yield* validateMatchConditions(
          spec['matchConditions'],
          'spec.matchConditions',
          expressions,
        )),
    ...(yield* eachOf(itemsOf(spec['variables']), expressions.slice, (variable, at) =>
      validateVariable(variable, `spec.variables[${at}]`, expressions),
    )),
  ]
}

function validateParamKind({ apiVersion, kind }: Fields, path: string): FieldFault[] {
  const kindPath = `${path}.kind`
  const kindFaults = checkDns1035Label(textOf(kind).toLowerCase())
  const why = `may have mixed case, but should otherwise match: ${kindFaults.join(', ')}`
  return [
    ...validateGroupVersion(textOf(apiVersion), `${path}.apiVersion`),
    ...(textOf(kind) === ''
      ? [required(kindPath)]
      : kindFaults.length === 0
        ? []
        : [invalidValue(kindPath, textOf(kind), why)]),
  ]
}

function validateGroupVersion(apiVersion: string, path: string): FieldFault[] {
  if (apiVersion === '') return [required(path)]
  const parts = apiVersion.split('/')
  if (parts.length > 2)
    return [invalidValue(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
  const [version = '', group = ''] = parts.toReversed()
  return [
    ...(group === '' ? [] : checked(path, group, checkDnsSubdomain)),
    ...(version === ''
      ? [invalidValue(path, apiVersion, 'version must be specified')]
      : checked(path, version, checkDns1035Label)),
  ]
}

function validateConstraints({ matchConstraints }: Fields, path: string): FieldFault[] {
  if (matchConstraints === undefined) return [required(path)]
  const constraints = fieldsOf(matchConstraints)
  const hasRules = itemsOf(constraints['resourceRules']).length > 0
  return [
    ...validateMatchResources(constraints, path),
    ...(hasRules ? [] : [required(`${path}.resourceRules`)]),
  ]
}

function* validateVariable(
  { name, expression }: Fields,
  path: string,
  expressions: Expressions,
): Turns<FieldFault[]> {
  const text = textOf(name)
  const namePath = `${path}.name`
  return [
    ...(text === ''
      ? [required(namePath, 'name is not specified')]
      : isIdentifier(text)
        ? []
        : [invalidValue(namePath, text, 'name is not a valid CEL identifier')]),
    ...(textOf(expression).trim() === ''
      ? [required(`${path}.expression`, missing)]
      : yield* expressions.declare(text, textOf(expression), `${path}.expression`)),
  ]
}

function validateOperations(
  resources: Json | undefined,
  operations: readonly string[] | undefined,
  path: string,
): FieldFault[] {
  if (operations === undefined) return []
  return faultsOfEach(itemsOf(fieldsOf(resources)['resourceRules']), (rule) =>
    faultsOfEach(textsOf(rule['operations']), (operation) =>
      validateOneOf(operation, operations, `${path}.resourceRules.operations`),
    ),
  )
}

/** Validates the fields that both kinds of bindings have in common. */
export function validateBindingSpec(
  { matchResources, paramRef, policyName }: Fields,
  operations?: readonly string[],
): FieldFault[] {
  const name = textOf(policyName)
  return [
    ...(name === ''
      ? [required('spec.policyName')]
      : checked('spec.policyName', name, checkDnsSubdomain)),
    ...(paramRef === undefined ? [] : validateParamRef(fieldsOf(paramRef), 'spec.paramRef')),
    ...(matchResources === undefined
      ? []
      : validateMatchResources(fieldsOf(matchResources), 'spec.matchResources')),
    ...validateOperations(matchResources, operations, 'spec.matchResources'),
  ]
}

function validateParamRef(
  { name, parameterNotFoundAction, selector }: Fields,
  path: string,
): FieldFault[] {
  const text = textOf(name)
  const faults = text === '' ? [] : checked(`${path}.name`, text, checkPathSegment)
  if (text !== '' && selector !== undefined) {
    for (const field of ['name', 'selector']) {
      faults.push(forbiddenField(`${path}.${field}`, 'name and selector are mutually exclusive'))
    }
  } else if (selector !== undefined) {
    addAll(faults, validateLabelSelector(fieldsOf(selector), `${path}.selector`))
  } else if (text === '') {
    faults.push(required(path, 'one of name or selector must be specified'))
  }
  const actionPath = `${path}.parameterNotFoundAction`
  if (parameterNotFoundAction === undefined) return [...faults, required(actionPath)]
  return [...faults, ...validateOneOf(parameterNotFoundAction, ['Deny', 'Allow'], actionPath)]
}
