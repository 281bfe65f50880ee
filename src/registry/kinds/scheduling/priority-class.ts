import {
  type FieldFault,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { type KubeObject, numberOf, textOf } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'

/** System priority classes and their values. */
const systemClasses: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', 2_000_000_000],
  ['system-node-critical', 2_000_001_000],
])
/** Maximum value of user-defined classes. The system classes have higher values. */
const USER_VALUE_MAX = 1_000_000_000
const policies = ['PreemptLowerPriority', 'Never']

export const priorityClassRules: KindRules = {
  strategy: { generation: { fields: [] } },
  validate: (object) => [
    ...validateValue(object),
    ...validatePolicy(textOf(object['preemptionPolicy'])),
  ],
  validateUpdate: validateChange,
  deleteForbiddenReason: (name) =>
    systemClasses.has(name) ? 'this is a system priority class and cannot be deleted' : undefined,
}

function validatePolicy(policy: string): FieldFault[] {
  if (policy === '') return [required('preemptionPolicy')]
  return policies.includes(policy) ? [] : [notSupported('preemptionPolicy', policy, policies)]
}

/** Validates an update. The fields are immutable, because existing Pods have copies of them. */
function validateChange(object: KubeObject, current: KubeObject): FieldFault[] {
  const [value, was] = [object, current].map((one) => numberOf(one['value']))
  const policy = textOf(object['preemptionPolicy'])
  return [
    ...(value === was ? [] : [forbiddenField('value', 'may not be changed in an update.')]),
    ...(policy === current['preemptionPolicy']
      ? []
      : [invalidValue('preemptionPolicy', policy, 'field is immutable')]),
  ]
}

function validateValue({
  metadata: { name = '' },
  value = 0,
  globalDefault = false,
}: KubeObject): FieldFault[] {
  if (!name.startsWith('system-')) {
    if (typeof value === 'number' && value <= USER_VALUE_MAX) return []
    return [
      forbiddenField(
        'value',
        `maximum allowed value of a user defined priority is ${USER_VALUE_MAX}`,
      ),
    ]
  }
  const known = systemClasses.get(name)
  const why =
    known === undefined
      ? `${name} is not a known system priority class`
      : value !== known
        ? `value of ${name} PriorityClass must be ${known}`
        : globalDefault === true
          ? `globalDefault of ${name} PriorityClass must be false`
          : undefined
  if (why === undefined) return []
  const reserved = "priority class names with 'system-' prefix are reserved for system use only."
  return [forbiddenField('metadata.name', `${reserved} error: ${why}`)]
}
