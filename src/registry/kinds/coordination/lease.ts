import { type FieldFault, invalidValue } from '../../../api/field-fault.ts'
import { fieldsOf, type KubeObject } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'

export const leaseRules: KindRules = { validate }

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
