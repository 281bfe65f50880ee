/**
 * Whether a terminated container may run again, if containers can have their own restart policies
 * and rules (gate ContainerRestartRules).
 */
import { faultsOfEach, type FieldFault, forbiddenField } from '../../../../api/field-fault.ts'
import type { Gates } from '../../../../api/gates.ts'
import { type Fields, fieldsOf, itemsOf, listOf, numberOf, textOf } from '../../../../api/object.ts'
import { firstBy } from '../../../../lib/scheduling/long-lists.ts'

export type StatusList =
  | 'containerStatuses'
  | 'initContainerStatuses'
  | 'ephemeralContainerStatuses'

/** The first release in which the rules also apply to the states of init containers. */
const INIT_CONTAINERS_SINCE = 35

/** Whether the states in a list follow the restart policies and rules of the containers. */
export function followsRules(list: StatusList, gates: Gates): boolean {
  if (list === 'ephemeralContainerStatuses' || !gates.isOn('ContainerRestartRules')) return false
  return list === 'containerStatuses' || gates.release >= INIT_CONTAINERS_SINCE
}

/** Validates that a terminated container runs again only if its policy or a rule restarts it. */
export function validateRestarts(
  now: readonly Fields[],
  was: readonly Fields[],
  { spec, list }: { readonly spec: Fields; readonly list: StatusList },
): FieldFault[] {
  const owners = list === 'containerStatuses' ? 'containers' : 'initContainers'
  const containers = firstBy(itemsOf(spec[owners]), ({ name }) => name)
  const statuses = firstBy(now, ({ name }) => name)
  return faultsOfEach(was, (old, at) => {
    const { terminated } = fieldsOf(old['state'])
    const status = statuses.get(old['name'])
    const isOver = status === undefined || fieldsOf(status['state'])['terminated'] !== undefined
    if (terminated === undefined || isOver) return []
    const container = containers.get(old['name'])
    const exitCode = numberOf(fieldsOf(terminated)['exitCode'])
    if (container !== undefined && isRestarted(container, spec, exitCode)) return []
    const why = 'may not be transitioned to non-terminated state'
    return [forbiddenField(`status.${list}[${at}].state`, why)]
  })
}

function isRestarted(container: Fields, spec: Fields, exitCode: number): boolean {
  const { restartPolicy, restartPolicyRules } = container
  if (restartPolicy !== undefined) {
    const rule = itemsOf(restartPolicyRules).find(({ exitCodes }) => isMatch(exitCodes, exitCode))
    if (rule?.['action'] === 'Restart') return true
  }
  switch (textOf(restartPolicy ?? spec['restartPolicy'])) {
    case 'Never':
      return false
    case 'OnFailure':
      return exitCode !== 0
    default:
      return true
  }
}

function isMatch(exitCodes: Fields[string] | undefined, exitCode: number): boolean {
  const { operator, values } = fieldsOf(exitCodes)
  const isListed = listOf(values).some((value) => value === exitCode)
  return operator === 'In' ? isListed : operator === 'NotIn' && !isListed
}
