/**
 * Validates the tolerations of Pods and RuntimeClasses, and those in the configuration of the
 * PodTolerationRestriction plugin.
 */
import { checked, type FieldFault, invalidValue, notSupported } from './field-fault.ts'
import { checkLabelValue, checkQualifiedName } from './names.ts'
import { type Fields, textOf } from './object.ts'
import { quote } from './quote.ts'

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const

/** The first release in which errors about the operators of numbers list all operators. */
const NUMBERS_COMPARED_SINCE = 35
const [INT64_MIN, INT64_MAX] = [-(2n ** 63n), 2n ** 63n - 1n]

/** How tolerations are validated. */
export type TolerationOptions = {
  /** Minor version of the release. */
  readonly release?: number
  /** Whether the operators `Gt` and `Lt` are allowed, which compare numbers. */
  readonly comparesNumbers?: boolean
}

export function tolerationFaults(
  toleration: Fields,
  path: string,
  options: TolerationOptions = {},
): FieldFault[] {
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
  faults.push(
    ...(isComparison(operator, options)
      ? comparisonFaults(value, operator, path, options)
      : valueFaults(value, operator, at)),
  )
  if (effect !== '' && !effects.some((one) => one === effect)) {
    faults.push(notSupported(`${path}.effect`, effect, effects))
  }
  return faults
}

const isComparison = (operator: string, { release = 0 }: TolerationOptions): boolean =>
  release >= NUMBERS_COMPARED_SINCE && (operator === 'Gt' || operator === 'Lt')

function comparisonFaults(
  value: string,
  operator: string,
  path: string,
  { comparesNumbers = false }: TolerationOptions,
): FieldFault[] {
  if (!comparesNumbers)
    return [notSupported(`${path}.operator`, operator, ['Equal', 'Exists', 'Lt', 'Gt'])]
  return [
    ...checked(`${path}.value`, value, checkDecimal),
    ...checked(`${path}.value`, value, checkInt64),
  ]
}

function checkDecimal(value: string): string[] {
  if (value === '') return ['must be non-empty']
  return /^(?:0|-?[1-9]\d*)$/.test(value)
    ? []
    : ['must be a valid decimal integer in canonical form']
}

function checkInt64(value: string): string[] {
  const fault = (why: string): string[] => [`strconv.ParseInt: parsing ${quote(value)}: ${why}`]
  if (!/^[+-]?\d+$/.test(value)) return fault('invalid syntax')
  const digits = value.replace(/^[+-]?0*/, '')
  if (digits.length > String(INT64_MAX).length) return fault('value out of range')
  const number = BigInt(value.startsWith('-') ? `-${digits || '0'}` : digits || '0')
  return number < INT64_MIN || number > INT64_MAX ? fault('value out of range') : []
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
