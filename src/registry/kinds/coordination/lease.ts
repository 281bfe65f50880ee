import { type FieldFault, invalidValue } from '../../../api/field-fault.ts'
import { fieldsOf, type KubeObject } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'

export const leaseRules: KindRules = {
  prepareCreate: withoutElection,
  prepareUpdate: withoutElection,
  validate,
}

/** Fields of coordinated leader election, whose gate is off. */
function withoutElection(object: KubeObject): KubeObject {
  const spec = fieldsOf(object['spec'])
  if (spec['strategy'] === undefined && spec['preferredHolder'] === undefined) return object
  const { strategy: _, preferredHolder: __, ...rest } = spec
  return { ...object, spec: rest }
}

function validate(object: KubeObject): FieldFault[] {
  const { leaseDurationSeconds, leaseTransitions } = fieldsOf(object['spec'])
  const faults: FieldFault[] = []
  if (typeof leaseDurationSeconds === 'number' && leaseDurationSeconds <= 0) {
    faults.push(invalidValue('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'))
  }
  if (typeof leaseTransitions === 'number' && leaseTransitions < 0) {
    faults.push(invalidValue('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'))
  }
  return faults
}
