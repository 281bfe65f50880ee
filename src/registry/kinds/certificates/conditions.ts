/**
 * Conditions of CertificateSigningRequests. Approved and Denied are decisions; the other conditions
 * are not.
 */
import {
  duplicate,
  faultsOfEach,
  type FieldFault,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { type Fields, textOf } from '../../../api/object.ts'
import { firstBy, repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import { mapEach } from '../../../lib/scheduling/parts.ts'

export const decisions: readonly string[] = ['Approved', 'Denied']

export function validateRequestConditions(conditions: readonly Fields[]): FieldFault[] {
  const types = mapEach('types of request conditions', conditions, ({ type }) => textOf(type))
  const repeats = repeatsIn(types)
  const firstDecisions = new Map(decisions.map((decision) => [decision, types.indexOf(decision)]))
  return faultsOfEach(conditions, (condition, at) => {
    const type = types[at] ?? ''
    const path = `status.conditions[${at}]`
    const opposite = decisions.find((other) => decisions.includes(type) && other !== type)
    const opposedAt = firstDecisions.get(opposite ?? '') ?? -1
    const isOpposed = opposedAt !== -1 && opposedAt < at
    return [
      ...(type === '' ? [required(`${path}.type`)] : []),
      ...validateStatus(type, textOf(condition['status']), `${path}.status`),
      ...(isOpposed
        ? [
            invalidValue(
              `${path}.type`,
              type,
              'Approved and Denied conditions are mutually exclusive',
            ),
          ]
        : []),
      ...(repeats.has(at) ? [duplicate(`${path}.type`, type)] : []),
    ]
  })
}

function validateStatus(type: string, status: string, path: string): FieldFault[] {
  const isFinal = decisions.includes(type) || type === 'Failed'
  const supported = isFinal ? ['True'] : ['False', 'True', 'Unknown']
  if (status === '') return [required(path)]
  return supported.includes(status) ? [] : [notSupported(path, status, supported)]
}

/** Sets missing timestamps. A condition whose status is unchanged keeps its lastTransitionTime. */
export function withTimes(
  conditions: readonly Fields[],
  before: readonly Fields[],
  now: () => string,
): readonly Fields[] {
  const known = firstBy(before, stateOf)
  return conditions.map((condition) => {
    const { lastTransitionTime, lastUpdateTime } = condition
    const same = known.get(stateOf(condition))
    return {
      ...condition,
      lastTransitionTime: lastTransitionTime ?? same?.['lastTransitionTime'] ?? now(),
      lastUpdateTime: lastUpdateTime ?? now(),
    }
  })
}

const stateOf = ({ type, status }: Fields): string => `${textOf(status)} ${textOf(type)}`

/**
 * Replaces the Approved and Denied conditions in a request with the stored conditions, so that
 * clients cannot change them.
 */
export function withDecisions(
  conditions: readonly Fields[],
  before: readonly Fields[],
): readonly Fields[] {
  const known = firstBy(before, ({ type }) => textOf(type))
  return conditions.map((condition) => {
    const type = textOf(condition['type'])
    const same = known.get(type)
    return decisions.includes(type) && same !== undefined ? same : condition
  })
}
