import { type FieldFault, invalidShown } from '../../../api/field-fault.ts'
import { type Fields, fieldsOf, isFields, itemsOf, type KubeObject } from '../../../api/object.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateConditions } from '../../rules/conditions.ts'
import { labelSelector } from '../../rules/label-selector.ts'
import { atMostHundredPercent, countOrPercent } from '../../rules/percent.ts'
import { all, faultsOf, fields, ifPresent, type Rule } from '../../rules/rule.ts'
import { nonNegative, oneOf } from '../../rules/scalars.ts'

const oneLimit: Rule = (value, path, { faults }) => {
  const { minAvailable, maxUnavailable } = fieldsOf(value)
  if (minAvailable === undefined || maxUnavailable === undefined) return
  const why = 'minAvailable and maxUnavailable cannot be both set'
  const type = 'policy.PodDisruptionBudgetSpec'
  faults.push(invalidShown(path, `${type}{...}`, why, { type, json: fieldsOf(value) }))
}

const limit = ifPresent(all(countOrPercent, atMostHundredPercent))

const spec = all(
  oneLimit,
  fields({
    minAvailable: limit,
    maxUnavailable: limit,
    selector: labelSelector,
    unhealthyPodEvictionPolicy: ifPresent(oneOf('AlwaysAllow', 'IfHealthyBudget')),
  }),
)

const counters = fields({
  disruptionsAllowed: nonNegative,
  currentHealthy: nonNegative,
  desiredHealthy: nonNegative,
  expectedPods: nonNegative,
})

/** Label key that the conversion from v1beta1 adds to an empty selector. */
export const emptySelectorLabel = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'
export const matchesNone: Fields = {
  matchExpressions: [{ key: emptySelectorLabel, operator: 'Exists' }],
}

/**
 * Removes `emptySelectorLabel` from a selector. It has no meaning if the selector has other
 * requirements.
 */
export function withoutOldLabel(selector: Fields): Fields {
  const { matchExpressions, ...rest } = selector
  const kept = itemsOf(matchExpressions).filter(({ key }) => key !== emptySelectorLabel)
  if (kept.length === itemsOf(matchExpressions).length) return selector
  return kept.length === 0 ? rest : { ...rest, matchExpressions: kept }
}

function withPlainSelector(object: KubeObject): KubeObject {
  const own = fieldsOf(object['spec'])
  const { selector } = own
  if (!isFields(selector) || isSame(selector, matchesNone)) return object
  const plain = withoutOldLabel(selector)
  return plain === selector ? object : { ...object, spec: { ...own, selector: plain } }
}

export const podDisruptionBudgetRules: KindRules = {
  strategy: {
    names: 'any',
    ignoresMetadata: true,
    updateChecks: ['rules'],
    needsResourceVersion: true,
    generation: { fields: ['spec'] },
  },
  setDefaults: withPlainSelector,
  validate: (object) => faultsOf(spec, object['spec'], 'spec'),
  status: { validateUpdate: validateStatus },
}

function validateStatus(object: KubeObject): FieldFault[] {
  const status = fieldsOf(object['status'])
  return [
    ...validateConditions(status['conditions'], 'status.conditions'),
    ...faultsOf(counters, status, 'status'),
  ]
}
