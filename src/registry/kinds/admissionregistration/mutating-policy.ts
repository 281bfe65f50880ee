/**
 * Rules for MutatingAdmissionPolicy and MutatingAdmissionPolicyBinding.
 * `admission/policies/param-access.ts` checks whether the user who writes them may read the
 * parameters.
 */
import { type FieldFault, invalidValue, notSupported, required } from '../../../api/field-fault.ts'
import { defaultGates, type Gates } from '../../../api/gates.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject, textOf } from '../../../api/object.ts'
import { jsonPatchType, objectType } from '../../../objects/cel/patches.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import { inTurns, type Turns } from '../../../objects/cel/turns.ts'
import { list, type Type } from '../../../objects/cel/types.ts'
import type { KindRules } from '../../kind-rules.ts'
import { eachOf } from './each.ts'
import { Expressions, expressionsIn } from './expression.ts'
import { validateOneOf } from './matching.ts'
import { validateBindingSpec, validatePolicySpec } from './policy.ts'
import { reinvocationPolicies } from './webhook-configuration.ts'

/** Operations that a mutating policy can match. A delete cannot be mutated. */
const operations = ['*', 'CONNECT', 'CREATE', 'UPDATE']

/**
 * Patch types, each with the field that contains its expression, and the type to which the
 * expression must evaluate.
 */
const patchTypes: ReadonlyMap<string, { readonly field: string; readonly type: Type }> = new Map([
  ['ApplyConfiguration', { field: 'applyConfiguration', type: objectType }],
  ['JSONPatch', { field: 'jsonPatch', type: list(jsonPatchType) }],
])

const strategy = {
  finalizersNeedNoDomain: true,
  updateChecks: ['metadata', 'rules'],
  needsResourceVersion: true,
  generation: { fields: ['spec'] },
} satisfies KindRules['strategy']

export const mutatingPolicyRules: KindRules = {
  strategy,
  validate: () => [],
  // Validation runs in time slices, so that compiling CEL expressions does not block other
  // requests.
  validateInSlices: (policy, current, tools, gates = defaultGates) =>
    inTurns((slice) => validatePolicy(policy, current, { gates, slice }), tools),
}

export const mutatingPolicyBindingRules: KindRules = {
  strategy,
  validate: (binding) => validateBindingSpec(fieldsOf(binding['spec']), operations),
}

function* validatePolicy(
  policy: KubeObject,
  current: KubeObject | undefined,
  { gates, slice }: { readonly gates: Gates; readonly slice: Slice },
): Turns<FieldFault[]> {
  const spec = fieldsOf(policy['spec'])
  const before = current && fieldsOf(current['spec'])
  const expressions = new Expressions(slice, {
    hasParams: spec['paramKind'] !== undefined,
    hasVariables: true,
    stored: new Set(before && expressionsIn(before)),
    gates,
  })
  const { reinvocationPolicy } = spec
  const mutations = itemsOf(spec['mutations'])
  const path = 'spec.reinvocationPolicy'
  return [
    ...(yield* validatePolicySpec(spec, { before, expressions, operations })),
    ...(mutations.length === 0
      ? [required('spec.mutations', 'mutations must contain at least one item')]
      : yield* eachOf(mutations, slice, (mutation, at) =>
          validateMutation(mutation, `spec.mutations[${at}]`, expressions),
        )),
    ...(textOf(reinvocationPolicy) === ''
      ? [required(path)]
      : validateOneOf(reinvocationPolicy, reinvocationPolicies, path)),
  ]
}

function* validateMutation(
  mutation: Fields,
  path: string,
  expressions: Expressions,
): Turns<FieldFault[]> {
  const patchType = textOf(mutation['patchType'])
  if (patchType === '') return [required(`${path}.patchType`)]
  const wanted = patchTypes.get(patchType)
  if (wanted === undefined)
    return [notSupported(`${path}.patchType`, patchType, [...patchTypes.keys()])]
  const faults: FieldFault[] = []
  const own = mutation[wanted.field]
  if (own === undefined) {
    faults.push(
      required(`${path}.${wanted.field}`, `must be specified when patchType is ${patchType}`),
    )
  } else {
    const given = textOf(fieldsOf(own)['expression'])
    const text = given.trim()
    const at = `${path}.${wanted.field}.expression`
    const options = { types: [wanted.type], hasPatchTypes: true, given }
    faults.push(...(text === '' ? [required(at)] : yield* expressions.check(text, at, options)))
  }
  for (const { field } of patchTypes.values()) {
    if (field === wanted.field || mutation[field] === undefined) continue
    faults.push(
      invalidValue(
        `${path}.${field}`,
        `{${field}}`,
        `must not be specified when patchType is ${patchType}`,
      ),
    )
  }
  return faults
}
