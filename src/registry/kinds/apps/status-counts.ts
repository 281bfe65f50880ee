/**
 * The counters in the status of workloads: none may be negative or exceed the whole that it is a
 * part of.
 */
import { type FieldFault, invalidValue } from '../../../api/field-fault.ts'
import { fieldsOf, type KubeObject, numberOf } from '../../../api/object.ts'
import { faultsOf, fields } from '../../rules/rule.ts'
import { nonNegative } from '../../rules/scalars.ts'

type Part = {
  readonly names: readonly string[]
  readonly of: string
  /** The whole, as messages name it. */
  readonly shown: string
}

export const partOf = (of: string, names: readonly string[], shown = `status.${of}`): Part => ({
  names,
  of,
  shown,
})

/** `counters` are in the order in which faults are reported. */
export function countersRule(
  counters: readonly string[],
  parts: readonly Part[] = [],
): (object: KubeObject, current: KubeObject) => FieldFault[] {
  const signs = fields(Object.fromEntries(counters.map((name) => [name, nonNegative])))
  return (object, current) => {
    const status = fieldsOf(object['status'])
    const tooGreat = parts.flatMap(({ names, of, shown }) =>
      names
        .filter((name) => numberOf(status[name]) > numberOf(status[of]))
        .map((name) =>
          invalidValue(`status.${name}`, numberOf(status[name]), `cannot be greater than ${shown}`),
        ),
    )
    return [
      ...faultsOf(signs, status, 'status'),
      ...tooGreat,
      ...validateCollisions(object, current),
    ]
  }
}

/** collisionCount makes names unique, so it must not decrease. */
function validateCollisions(object: KubeObject, current: KubeObject): FieldFault[] {
  const count = numberOf(fieldsOf(object['status'])['collisionCount'])
  const before = fieldsOf(current['status'])['collisionCount']
  return before !== undefined && count < numberOf(before)
    ? [invalidValue('status.collisionCount', count, 'cannot be decremented')]
    : []
}
