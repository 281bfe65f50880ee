/**
 * Validates the tolerations of Pods and RuntimeClasses, and those in the configuration of the
 * PodTolerationRestriction plugin.
 */
import { checked, type FieldFault, invalidValue, notSupported } from './field-fault.ts'
import { checkLabelValue, checkQualifiedName } from './names.ts'
import { type Fields, textOf } from './object.ts'

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const

export function tolerationFaults(toleration: Fields, path: string): FieldFault[] {
  const [key, operator] = [textOf(toleration['key']), textOf(toleration['operator'])]
  const [value, effect] = [textOf(toleration['value']), textOf(toleration['effect'])]
  const at = `${path}.operator`
  const faults: FieldFault[] = []
  if (key !== '') faults.push(...checked(`${path}.key`, key, checkQualifiedName))
  else if (operator !== 'Exists') {
    const why =
      'operator must be Exists when `key` is empty, which means "match all values and all keys"'
    faults.push(invalidValue(at, operator, why))
  }
  if (toleration['tolerationSeconds'] !== undefined && effect !== 'NoExecute') {
    faults.push(
      invalidValue(
        `${path}.effect`,
        effect,
        "effect must be 'NoExecute' when `tolerationSeconds` is set",
      ),
    )
  }
  faults.push(...valueFaults(value, operator, at))
  if (effect !== '' && !effects.some((one) => one === effect)) {
    faults.push(notSupported(`${path}.effect`, effect, effects))
  }
  return faults
}

/**
 * Validates the value of a toleration. As in kube-apiserver, the errors have the field path of the
 * operator.
 */
function valueFaults(value: string, operator: string, path: string): FieldFault[] {
  switch (operator) {
    case '':
    case 'Equal':
      return checked(path, value, checkLabelValue)
    case 'Exists':
      return value === ''
        ? []
        : [invalidValue(path, value, "value must be empty when `operator` is 'Exists'")]
    default:
      return [notSupported(path, operator, ['Equal', 'Exists'])]
  }
}
