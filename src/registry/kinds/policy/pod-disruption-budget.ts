import { type FieldFault, invalidShown } from '../../../api/field-fault.ts'
import { fieldsOf, type KubeObject } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateConditions } from '../../rules/conditions.ts'
import { labelSelector } from '../../rules/label-selector.ts'
import { atMostHundredPercent, countOrPercent } from '../../rules/percent.ts'
import { all, faultsOf, fields, given, type Rule } from '../../rules/rule.ts'
import { nonNegative, oneOf } from '../../rules/scalars.ts'

const oneLimit: Rule = (value, path, { faults }) => {
  const { minAvailable, maxUnavailable } = fieldsOf(value)
  if (minAvailable === undefined || maxUnavailable === undefined) return
  const why = 'minAvailable and maxUnavailable cannot be both set'
  faults.push(invalidShown(path, 'policy.PodDisruptionBudgetSpec{...}', why))
}

const limit = given(all(countOrPercent, atMostHundredPercent))

const spec = all(
  oneLimit,
  fields({
    minAvailable: limit,
    maxUnavailable: limit,
    selector: labelSelector,
    unhealthyPodEvictionPolicy: given(oneOf('AlwaysAllow', 'IfHealthyBudget')),
  }),
)

const counters = fields({
  disruptionsAllowed: nonNegative,
  currentHealthy: nonNegative,
  desiredHealthy: nonNegative,
  expectedPods: nonNegative,
})

export const podDisruptionBudgetRules: KindRules = {
  validate: (object) => faultsOf(spec, object['spec'], 'spec'),
  status: { validateUpdate: validateStatus },
}

function validateStatus(object: KubeObject): FieldFault[] {
  const status = fieldsOf(object['status'])
  return [...validateConditions(status['conditions'], 'status.conditions'), ...faultsOf(counters, status, 'status')]
}
