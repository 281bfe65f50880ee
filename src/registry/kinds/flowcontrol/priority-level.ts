import {
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import {
  type Fields,
  fieldsOf,
  type Json,
  type KubeObject,
  numberOf,
  textOf,
} from '../../../api/object.ts'
import { isEqualAs } from '../../rules/equality.ts'
import type { KindRules } from '../../kind-rules.ts'
import { mandatoryPriorityLevels } from './mandatory.ts'
import { validateConditionTypes } from './status.ts'

const QUEUES_MAX = 10_000_000
/**
 * Maximum entropy of shuffle sharding in bits. The hash of a flow has only 64 bits, and shuffle
 * sharding must not use all of them.
 */
const ENTROPY_BITS_MAX = 60
const PERCENT_MAX = 100
/**
 * Annotation with which older versions preserve an explicit zero. Without the annotation, they
 * would replace the zero by the default.
 */
const zeroSharesAnnotation = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares'

export const priorityLevelRules: KindRules = {
  strategy: {
    updateChecks: ['metadata', 'rules'],
    statusKeeps: 'metadata',
    generation: { fields: ['spec'] },
  },
  validate,
  status: { validateUpdate: validateConditionTypes },
}

function validate(level: KubeObject): FieldFault[] {
  const { name = '', annotations = {} } = level.metadata
  const spec = fieldsOf(level['spec'])
  const isRefused = Object.hasOwn(annotations, zeroSharesAnnotation)
  const why = `annotation '${zeroSharesAnnotation}' is forbidden`
  return [
    ...(isRefused ? [forbiddenField('metadata.annotations', why)] : []),
    ...validateType(textOf(spec['type']), name),
    ...validateParts(spec),
    ...validateMandatory(spec, name),
  ]
}

function validateType(type: string, name: string): FieldFault[] {
  if ((name === 'exempt') === (type === 'Exempt')) return []
  return [invalidValue('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'")]
}

function validateParts({ type, exempt, limited }: Fields): FieldFault[] {
  switch (textOf(type)) {
    case 'Exempt':
      return [
        ...(limited === undefined
          ? []
          : [forbiddenField('spec.limited', 'must be nil if the type is not Limited')]),
        ...(exempt === undefined ? [] : validateExempt(fieldsOf(exempt))),
      ]
    case 'Limited':
      return [
        ...(exempt === undefined
          ? []
          : [forbiddenField('spec.exempt', 'must be nil if the type is Limited')]),
        ...(limited === undefined
          ? [required('spec.limited', 'must not be empty when type is Limited')]
          : validateLimited(fieldsOf(limited), 'spec.limited')),
      ]
    default:
      return [notSupported('spec.type', textOf(type), ['Exempt', 'Limited'])]
  }
}

const validateExempt = (exempt: Fields): FieldFault[] => [
  ...validateShares(exempt['nominalConcurrencyShares'], 'spec.exempt.nominalConcurrencyShares'),
  ...validatePercent(exempt['lendablePercent'], 'spec.exempt.lendablePercent'),
]

function validateShares(value: Json | undefined, path: string): FieldFault[] {
  const shares = numberOf(value)
  return shares < 0 ? [invalidValue(path, shares, 'must be a non-negative integer')] : []
}

function validatePercent(value: Json | undefined, path: string): FieldFault[] {
  const percent = numberOf(value)
  const isFine = percent >= 0 && percent <= PERCENT_MAX
  return isFine
    ? []
    : [invalidValue(path, percent, `must be between 0 and ${PERCENT_MAX}, inclusive`)]
}

function validateLimited(limited: Fields, path: string): FieldFault[] {
  const borrowing = numberOf(limited['borrowingLimitPercent'])
  const borrowingPath = `${path}.borrowingLimitPercent`
  return [
    ...validateShares(limited['nominalConcurrencyShares'], `${path}.nominalConcurrencyShares`),
    ...validateResponse(fieldsOf(limited['limitResponse']), `${path}.limitResponse`),
    ...validatePercent(limited['lendablePercent'], `${path}.lendablePercent`),
    ...(borrowing < 0
      ? [invalidValue(borrowingPath, borrowing, 'if specified, must be a non-negative integer')]
      : []),
  ]
}

function validateResponse({ type, queuing }: Fields, path: string): FieldFault[] {
  const queuingPath = `${path}.queuing`
  switch (textOf(type)) {
    case 'Reject':
      if (queuing === undefined) return []
      return [
        forbiddenField(queuingPath, 'must be nil if limited.limitResponse.type is not Limited'),
      ]
    case 'Queue':
      if (queuing !== undefined) return validateQueuing(fieldsOf(queuing), queuingPath)
      return [required(queuingPath, 'must not be empty if limited.limitResponse.type is Limited')]
    default:
      return [notSupported(`${path}.type`, textOf(type), ['Queue', 'Reject'])]
  }
}

function validateQueuing(queuing: Fields, path: string): FieldFault[] {
  const [queues, handSize] = [numberOf(queuing['queues']), numberOf(queuing['handSize'])]
  const faults: FieldFault[] = []
  const needsPositive = (field: string): void => {
    const value = numberOf(queuing[field])
    if (value <= 0) faults.push(invalidValue(`${path}.${field}`, value, 'must be positive'))
  }
  needsPositive('queueLengthLimit')
  needsPositive('queues')
  if (queues > QUEUES_MAX) {
    faults.push(invalidValue(`${path}.queues`, queues, `must not be greater than ${QUEUES_MAX}`))
  }
  needsPositive('handSize')
  const handPath = `${path}.handSize`
  if (handSize > queues) {
    faults.push(invalidValue(handPath, handSize, `should not be greater than queues (${queues})`))
  } else if (entropyBits(queues, handSize) > ENTROPY_BITS_MAX) {
    const why = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${ENTROPY_BITS_MAX}`
    faults.push(invalidValue(handPath, handSize, why))
  }
  return faults
}

/**
 * Returns the entropy of dealing a hand of queues from a deck: the base-2 logarithm of the number
 * of ways to deal it, rounded up.
 */
function entropyBits(deckSize: number, handSize: number): number {
  let bits = 0
  for (let dealt = 0; dealt < handSize && bits <= ENTROPY_BITS_MAX; dealt++)
    bits += Math.log2(deckSize - dealt)
  return Math.ceil(bits)
}

/**
 * Validates that a mandatory level is unchanged. The only exception is spec.exempt of the `exempt`
 * level.
 */
function validateMandatory(spec: Fields, name: string): FieldFault[] {
  const fixed = mandatoryPriorityLevels.get(name)
  if (fixed === undefined) return []
  const isExempt = name === 'exempt'
  const compared = isExempt ? { ...spec, exempt: fixed['exempt'] } : spec
  if (isEqualAs('flowcontrol/v1 PriorityLevelConfigurationSpec', compared, fixed)) return []
  const what = isExempt ? `spec of '${name}' except the 'spec.exempt' field` : `spec of '${name}'`
  const type = 'flowcontrol.PriorityLevelConfigurationSpec'
  return [
    invalidShown('spec', `${type}{...}`, `${what} must equal the fixed value`, {
      type,
      json: spec,
    }),
  ]
}
