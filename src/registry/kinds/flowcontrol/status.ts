import { duplicate, faultsOfEach, type FieldFault, required } from '../../../api/field-fault.ts'
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../../api/object.ts'
import { repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import { mapEach } from '../../../lib/scheduling/parts.ts'

/**
 * Validates the types of the conditions of FlowSchemas and PriorityLevelConfigurations. Nothing
 * else in conditions is validated.
 */
export function validateConditionTypes(object: KubeObject): FieldFault[] {
  const types = mapEach(
    'types of flow conditions',
    itemsOf(fieldsOf(object['status'])['conditions']),
    ({ type }) => textOf(type),
  )
  const repeats = repeatsIn(types)
  return faultsOfEach(types, (type, at) => {
    const path = `status.conditions[${at}].type`
    if (type === '') return [required(path, 'must not be empty')]
    return repeats.has(at) ? [duplicate(path, type)] : []
  })
}
