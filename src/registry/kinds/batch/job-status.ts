/**
 * Rules for the status of a Job. Most rules apply only to fields that have changed. Some changes
 * must not be reverted.
 */
import {
  duplicate,
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  invalidWithoutValue,
  required,
} from '../../../api/field-fault.ts'
import { goStrings, goTime } from '../../../api/go-value.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { once } from '../../../lib/scheduling/parts.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import { faultsOf, fields } from '../../rules/rule.ts'
import { nonNegative } from '../../rules/scalars.ts'
import { overlapOf, parseIndexes } from './indexes.ts'

/** Status and spec of a Job, with values derived from them. */
type State = {
  readonly status: Fields
  readonly spec: Fields
  readonly isTrue: (condition: string) => boolean
  readonly isFinished: boolean
}

export function validateJobStatus(object: KubeObject, current: KubeObject): FieldFault[] {
  const now = stateOf(object)
  const before = stateOf(current)
  const isChanged = (...names: readonly string[]): boolean =>
    names.some((name) => !isSame(now.status[name], before.status[name]))
  const turned = (...conditions: readonly string[]): boolean =>
    conditions.some((condition) => now.isTrue(condition) !== before.isTrue(condition))
  const isFinishedChanged = now.isFinished !== before.isFinished
  return [
    ...faultsOf(counters, now.status, 'status'),
    ...validateUncounted(now),
    ...(turned('Complete', 'Failed') ? exclusive(now, 'Complete', 'Failed') : []),
    ...(turned('Complete', 'FailureTarget') ? exclusive(now, 'Complete', 'FailureTarget') : []),
    ...(turned('SuccessCriteriaMet', 'Failed')
      ? exclusive(now, 'SuccessCriteriaMet', 'Failed')
      : []),
    ...(turned('SuccessCriteriaMet', 'FailureTarget')
      ? exclusive(now, 'SuccessCriteriaMet', 'FailureTarget')
      : []),
    ...(turned('Complete') || isChanged('completionTime') ? validateCompletionTime(now) : []),
    ...(isChanged('startTime', 'completionTime') ? validateOrder(now) : []),
    ...(turned('Failed') ? announced(now, 'Failed', 'FailureTarget') : []),
    ...(turned('Complete', 'SuccessCriteriaMet')
      ? announced(now, 'Complete', 'SuccessCriteriaMet')
      : []),
    ...(isFinishedChanged || isChanged('active') ? nothingLeft(now, 'active') : []),
    ...(isFinishedChanged || isChanged('startTime') ? validateStarted(now) : []),
    ...(isFinishedChanged || isChanged('uncountedTerminatedPods') ? validateAllCounted(now) : []),
    ...validateIndexes(now, isChanged),
    ...(isChanged('ready', 'active') ? validateReady(now) : []),
    ...(isFinishedChanged || isChanged('terminating') ? nothingLeft(now, 'terminating') : []),
    ...validateMove(now, before),
  ]
}

function stateOf(object: KubeObject): State {
  const status = fieldsOf(object['status'])
  const conditions = itemsOf(status['conditions'])
  const isTrue = (type: string): boolean =>
    conditions.some((one) => one['type'] === type && one['status'] === 'True')
  return {
    status,
    spec: fieldsOf(object['spec']),
    isTrue,
    isFinished: isTrue('Complete') || isTrue('Failed'),
  }
}

const counters = fields({
  active: nonNegative,
  succeeded: nonNegative,
  failed: nonNegative,
  ready: nonNegative,
  terminating: nonNegative,
})

function validateUncounted({ status }: State): FieldFault[] {
  const { succeeded, failed } = fieldsOf(status['uncountedTerminatedPods'])
  const path = 'status.uncountedTerminatedPods'
  const seen = once('uncounted Pods', () => new Set<string>())
  const check = (name: string, uids: readonly string[]): FieldFault[] =>
    faultsOfEach(uids, (uid, at) => {
      const here = `${path}.${name}[${at}]`
      if (uid === '') return [invalidValue(here, uid, 'must not be empty')]
      if (seen.has(uid)) return [duplicate(here, uid)]
      seen.add(uid)
      return []
    })
  return [...check('succeeded', textsOf(succeeded)), ...check('failed', textsOf(failed))]
}

const wrongConditions = (why: string): FieldFault => invalidWithoutValue('status.conditions', why)

function exclusive({ isTrue }: State, one: string, other: string): FieldFault[] {
  if (!isTrue(one) || !isTrue(other)) return []
  return [wrongConditions(`cannot set ${one}=True and ${other}=true conditions`)]
}

/**
 * Refuses `condition` if the status does not contain the condition `earlier`, which must be set
 * first.
 */
function announced({ isTrue }: State, condition: string, earlier: string): FieldFault[] {
  if (!isTrue(condition) || isTrue(earlier)) return []
  return [
    wrongConditions(`cannot set ${condition}=True condition without the ${earlier}=true condition`),
  ]
}

function validateCompletionTime({ status, isTrue }: State): FieldFault[] {
  const { completionTime } = status
  const path = 'status.completionTime'
  if (isTrue('Complete')) {
    return completionTime === undefined
      ? [required(path, 'completionTime is required for Complete jobs')]
      : []
  }
  if (completionTime === undefined) return []
  const why = 'cannot set completionTime when there is no Complete=True condition'
  return [invalidShown(path, goTime(textOf(completionTime)), why)]
}

function validateOrder({ status: { startTime, completionTime } }: State): FieldFault[] {
  if (startTime === undefined || completionTime === undefined) return []
  if (Date.parse(textOf(completionTime)) >= Date.parse(textOf(startTime))) return []
  const why = 'completionTime cannot be set before startTime'
  return [invalidShown('status.completionTime', goTime(textOf(completionTime)), why)]
}

function nothingLeft({ status, isFinished }: State, name: 'active' | 'terminating'): FieldFault[] {
  const count = numberOf(status[name])
  if (!isFinished || count <= 0) return []
  return [invalidValue(`status.${name}`, count, `${name}>0 is invalid for finished job`)]
}

/**
 * Requires that a finished Job has a startTime. A suspended Job with zero completions can finish
 * without ever starting.
 */
function validateStarted({ status, spec, isFinished }: State): FieldFault[] {
  const isNothing = spec['suspend'] === true && spec['completions'] === 0
  if (!isFinished || isNothing || status['startTime'] !== undefined) return []
  return [required('status.startTime', 'startTime is required for finished job')]
}

function validateAllCounted({ status, isFinished }: State): FieldFault[] {
  const { succeeded, failed } = fieldsOf(status['uncountedTerminatedPods'])
  const [good, bad] = [textsOf(succeeded), textsOf(failed)]
  if (!isFinished || good.length + bad.length === 0) return []
  const lists = `Succeeded:${goStrings(good, 'types.UID')}, Failed:${goStrings(bad, 'types.UID')}`
  const why = 'uncountedTerminatedPods needs to be empty for finished job'
  return [
    invalidShown('status.uncountedTerminatedPods', `batch.UncountedTerminatedPods{${lists}}`, why),
  ]
}

function validateIndexes(
  { status, spec }: State,
  isChanged: (...names: readonly string[]) => boolean,
): FieldFault[] {
  const { completions, completionMode, backoffLimitPerIndex } = spec
  const most = completions === undefined ? Infinity : numberOf(completions)
  const faults: FieldFault[] = []
  const [completed, failed] = (['completedIndexes', 'failedIndexes'] as const).map((name) => {
    const text = textOf(status[name])
    const indexes = parseIndexes(text, most)
    if ('fault' in indexes && isChanged(name)) {
      faults.push(invalidValue(`status.${name}`, text, `error parsing ${name}: ${indexes.fault}`))
    }
    return { text, indexes }
  })
  if (completed === undefined || failed === undefined) return faults
  if (isChanged('completedIndexes') && completed.text !== '' && completionMode !== 'Indexed') {
    const why = 'cannot set non-empty completedIndexes when non-indexed completion mode'
    faults.push(invalidValue('status.completedIndexes', completed.text, why))
  }
  if (status['failedIndexes'] === undefined) return faults
  if (isChanged('failedIndexes') && backoffLimitPerIndex === undefined) {
    const why = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'
    faults.push(invalidValue('status.failedIndexes', failed.text, why))
  }
  if (!isChanged('failedIndexes', 'completedIndexes')) return faults
  if ('fault' in completed.indexes || 'fault' in failed.indexes) return faults
  const overlap = overlapOf(completed.indexes, failed.indexes)
  if (overlap === undefined) return faults
  const why = `failedIndexes and completedIndexes overlap at index: ${overlap}`
  return [...faults, invalidValue('status.failedIndexes', failed.text, why)]
}

function validateReady({ status }: State): FieldFault[] {
  const ready = numberOf(status['ready'])
  if (ready <= numberOf(status['active'])) return []
  return [invalidValue('status.ready', ready, 'cannot set more ready pods than active')]
}

/** Refuses changes that would revert final conditions, counters or times. */
function validateMove(now: State, before: State): FieldFault[] {
  const faults = ['Failed', 'Complete', 'FailureTarget']
    .filter((condition) => before.isTrue(condition) && !now.isTrue(condition))
    .map((condition) => wrongConditions(`cannot disable the terminal ${condition}=True condition`))
  const names = isElastic(now) ? ['failed'] : ['failed', 'succeeded']
  for (const name of names) {
    const count = numberOf(now.status[name])
    if (count >= numberOf(before.status[name])) continue
    faults.push(invalidValue(`status.${name}`, count, `cannot decrease the ${name} counter`))
  }
  if (before.isTrue('SuccessCriteriaMet') && !now.isTrue('SuccessCriteriaMet')) {
    faults.push(wrongConditions('cannot disable the SuccessCriteriaMet=True condition'))
  }
  return [...faults, ...validateTimes(now, before)]
}

/**
 * Whether the number of completions can change (elastic indexed Job). Scaling down drops the
 * results of the last indexes.
 */
const isElastic = ({ spec }: State): boolean =>
  spec['completionMode'] === 'Indexed' && spec['completions'] === spec['parallelism']

function validateTimes(now: State, before: State): FieldFault[] {
  const { completionTime, startTime } = now.status
  const faults: FieldFault[] = []
  const ended = before.status['completionTime']
  if (ended !== undefined && completionTime !== undefined && ended !== completionTime) {
    const shown = goTime(textOf(completionTime))
    faults.push(invalidShown('status.completionTime', shown, 'completionTime cannot be mutated'))
  }
  const started = before.status['startTime']
  if (started !== undefined && startTime !== started && now.spec['suspend'] !== true) {
    faults.push(required('status.startTime', 'startTime cannot be removed for unsuspended job'))
  }
  return faults
}
