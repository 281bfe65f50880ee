import { type FieldFault, forbiddenField, required } from '../../../api/field-fault.ts'
import { fieldsOf, type KubeObject, textOf } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { isEqualAs } from '../../rules/equality.ts'
import { VALIDATED_ONCE_SINCE } from '../../strategy.ts'
import { validateParameters, validateProvisioner } from './parameters.ts'

/**
 * Rules for VolumeAttributesClass: attributes of a volume that its driver can modify while the
 * volume is in use.
 */
export const volumeAttributesClassRules: KindRules = {
  strategy: {
    returnsDeleted: true,
  },
  validate,
  // As in kube-apiserver, an update validates the new object after comparing it with the stored
  // object. Releases before 1.35 also validate it before.
  validateUpdate: (object, current, { release }) => [
    ...(release < VALIDATED_ONCE_SINCE ? validate(object) : []),
    ...validateChange(object, current),
    ...validate(object),
  ],
}

function validate(object: KubeObject): FieldFault[] {
  const { parameters } = object
  const isEmpty = Object.keys(fieldsOf(parameters)).length === 0
  return [
    ...validateProvisioner(textOf(object['driverName']), 'driverName'),
    ...validateParameters(parameters),
    ...(isEmpty ? [required('parameters', 'must contain at least one key/value pair')] : []),
  ]
}

const validateChange = (object: KubeObject, current: KubeObject): FieldFault[] =>
  ['driverName', 'parameters']
    .filter(
      (field) =>
        !isEqualAs(
          'storage/v1beta1 VolumeAttributesClass',
          { [field]: object[field] },
          { [field]: current[field] },
          'exact',
        ),
    )
    .map((field) => forbiddenField(field, `updates to ${field} are forbidden.`))
