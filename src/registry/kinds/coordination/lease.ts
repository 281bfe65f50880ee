import { checked, type FieldFault, forbiddenField, invalidValue, notSupported } from '../../../api/field-fault.ts'
import { checkQualifiedName } from '../../../api/names.ts'
import { fieldsOf, type KubeObject, textOf } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'

export const leaseRules: KindRules = { validate }

function validate(object: KubeObject): FieldFault[] {
  const { leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } = fieldsOf(object['spec'])
  const faults: FieldFault[] = []
  if (typeof leaseDurationSeconds === 'number' && leaseDurationSeconds <= 0) {
    faults.push(invalidValue('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'))
  }
  if (typeof leaseTransitions === 'number' && leaseTransitions < 0) {
    faults.push(invalidValue('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'))
  }
  if (strategy !== undefined) faults.push(...validateStrategy(textOf(strategy)))
  if (textOf(preferredHolder) !== '' && textOf(strategy) === '') {
    faults.push(forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined'))
  }
  return faults
}

const strategies = ['OldestEmulationVersion']

/** One of ours, or of somebody's domain (gate CoordinatedLeaderElection). The path is upstream's. */
function validateStrategy(strategy: string): FieldFault[] {
  const path = 'spec.strategy.strategy'
  if (strategy.includes('/')) return checked(path, strategy, checkQualifiedName)
  return strategies.includes(strategy) ? [] : [notSupported(path, strategy, strategies)]
}
