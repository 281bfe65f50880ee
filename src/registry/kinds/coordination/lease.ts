import { type FieldFault, forbiddenField, invalidValue } from '../../../api/field-fault.ts'
import { fieldsOf, type KubeObject, textOf } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateStrategy } from './strategy.ts'

export const leaseRules: KindRules = {
  strategy: { finalizersNeedNoDomain: true, needsResourceVersion: true, createsOnUpdate: true },
  validate,
}

function validate(object: KubeObject): FieldFault[] {
  const { leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } = fieldsOf(
    object['spec'],
  )
  const faults: FieldFault[] = []
  if (typeof leaseDurationSeconds === 'number' && leaseDurationSeconds <= 0) {
    faults.push(
      invalidValue('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'),
    )
  }
  if (typeof leaseTransitions === 'number' && leaseTransitions < 0) {
    faults.push(
      invalidValue('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'),
    )
  }
  if (strategy !== undefined) faults.push(...validateStrategy(textOf(strategy)))
  if (textOf(preferredHolder) !== '' && textOf(strategy) === '') {
    faults.push(
      forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined'),
    )
  }
  return faults
}
