import { checked, type FieldFault, invalidShown, invalidValue } from '../../../api/field-fault.ts'
import { checkDnsSubdomain } from '../../../api/names.ts'
import { entriesOf, fieldsOf, type KubeObject, textOf } from '../../../api/object.ts'
import { isEqualAs } from '../../rules/equality.ts'
import type { KindRules } from '../../kind-rules.ts'
import { goLabelSelector, validateLabelSelector } from '../../rules/label-selector.ts'
import { deprecatedLabelWarnings } from '../../rules/deprecated-labels.ts'
import { warningsOfEach } from '../../rules/warnings.ts'

export const csiStorageCapacityRules: KindRules = {
  strategy: { updateChecks: ['metadata', 'change', 'rules'], needsResourceVersion: true },
  validate,
  validateUpdate: (object, current) => [...validate(object), ...validateChange(object, current)],
  warnings: (object) =>
    warningsOfEach(entriesOf(fieldsOf(object['nodeTopology'])['matchLabels']), ([label]) =>
      deprecatedLabelWarnings(`nodeTopology.matchLabels.${label}`, label),
    ),
}

function validate(object: KubeObject): FieldFault[] {
  const capacity = textOf(object['capacity'])
  return [
    ...checked('storageClassName', textOf(object['storageClassName']), checkDnsSubdomain),
    ...validateLabelSelector(fieldsOf(object['nodeTopology']), 'nodeTopology'),
    // A quantity is negative if it begins with a minus sign.
    ...(capacity.startsWith('-')
      ? [invalidValue('capacity', capacity, 'must be greater than or equal to 0')]
      : []),
  ]
}

function validateChange(object: KubeObject, current: KubeObject): FieldFault[] {
  const { storageClassName, nodeTopology } = object
  const faults: FieldFault[] = []
  const was = { nodeTopology: current['nodeTopology'] }
  if (!isEqualAs('storage/v1 CSIStorageCapacity', { nodeTopology }, was)) {
    const shown = nodeTopology === undefined ? '"null"' : goLabelSelector(fieldsOf(nodeTopology))
    faults.push(invalidShown('nodeTopology', shown, 'field is immutable'))
  }
  if (storageClassName !== current['storageClassName']) {
    faults.push(invalidValue('storageClassName', textOf(storageClassName), 'field is immutable'))
  }
  return faults
}
