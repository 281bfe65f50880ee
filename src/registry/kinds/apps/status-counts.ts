/**
 * Counters in the status of workloads. A counter must not be negative, nor exceed the total to
 * which it belongs.
 */
import { type FieldFault, invalidValue } from '../../../api/field-fault.ts'
import { fieldsOf, type KubeObject, numberOf } from '../../../api/object.ts'
import { faultsOf, fields } from '../../rules/rule.ts'
import { nonNegative } from '../../rules/scalars.ts'

type Part = {
  readonly names: readonly string[]
  readonly of: string
  /** Name of the total in error messages. */
  readonly shown: string
}

export const partOf = (of: string, names: readonly string[], shown = `status.${of}`): Part => ({
  names,
  of,
  shown,
})

/** Returns the function that validates counters, in the order of `counters`. */
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

/**
 * Validates collisionCount. It must not decrease, because it makes the names of new objects unique.
 */
function validateCollisions(object: KubeObject, current: KubeObject): FieldFault[] {
  const count = numberOf(fieldsOf(object['status'])['collisionCount'])
  const before = fieldsOf(current['status'])['collisionCount']
  return before !== undefined && count < numberOf(before)
    ? [invalidValue('status.collisionCount', count, 'cannot be decremented')]
    : []
}
