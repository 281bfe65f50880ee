/** The conditions of certificate requests, two of which are decisions: Approved and Denied. */
import { duplicate, type FieldFault, invalidValue, notSupported, required } from '../../../api/field-fault.ts'
import { type Fields, textOf } from '../../../api/object.ts'

export const decisions: readonly string[] = ['Approved', 'Denied']

export function validateConditions(conditions: readonly Fields[]): FieldFault[] {
  const types = conditions.map(({ type }) => textOf(type))
  return conditions.flatMap((condition, at) => {
    const type = types[at] ?? ''
    const path = `status.conditions[${at}]`
    const opposite = decisions.find((other) => decisions.includes(type) && other !== type)
    const isOpposed = opposite !== undefined && types.slice(0, at).includes(opposite)
    return [
      ...(type === '' ? [required(`${path}.type`)] : []),
      ...validateStatus(type, textOf(condition['status']), `${path}.status`),
      ...(isOpposed
        ? [invalidValue(`${path}.type`, type, 'Approved and Denied conditions are mutually exclusive')]
        : []),
      ...(types.indexOf(type) < at ? [duplicate(`${path}.type`, type)] : []),
    ]
  })
}

function validateStatus(type: string, status: string, path: string): FieldFault[] {
  const isFinal = decisions.includes(type) || type === 'Failed'
  const supported = isFinal ? ['True'] : ['False', 'True', 'Unknown']
  if (status === '') return [required(path)]
  return supported.includes(status) ? [] : [notSupported(path, status, supported)]
}

/** With the times that were not told: of a condition that holds on, since when it does. */
export function withTimes(
  conditions: readonly Fields[],
  before: readonly Fields[],
  now: () => string,
): readonly Fields[] {
  return conditions.map((condition) => {
    const { lastTransitionTime, lastUpdateTime, status, type } = condition
    const same = before.find((old) => old['type'] === type && old['status'] === status)
    return {
      ...condition,
      lastTransitionTime: lastTransitionTime ?? same?.['lastTransitionTime'] ?? now(),
      lastUpdateTime: lastUpdateTime ?? now(),
    }
  })
}

/** Decisions that were there already are as they were. */
export function withDecisions(conditions: readonly Fields[], before: readonly Fields[]): readonly Fields[] {
  return conditions.map((condition) => {
    const type = textOf(condition['type'])
    const same = before.find((old) => old['type'] === type)
    return decisions.includes(type) && same !== undefined ? same : condition
  })
}
