/** Rules for conditions of the common type metav1.Condition, which newer kinds use. */
import {
  checked,
  duplicate,
  faultsOfEach,
  type FieldFault,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../../api/field-fault.ts'
import { checkQualifiedName } from '../../api/names.ts'
import { type Fields, itemsOf, type Json, textOf } from '../../api/object.ts'
import { repeatsIn } from '../../lib/scheduling/long-lists.ts'
import { mapEach } from '../../lib/scheduling/parts.ts'

const REASON_BYTES_MAX = 1024
const MESSAGE_BYTES_MAX = 32 * 1024
const statuses = ['False', 'True', 'Unknown']
const reasonPattern = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'
const reasonRule = `a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '${reasonPattern}')`
const isReason = new RegExp(`^${reasonPattern}$`)

export function validateConditions(list: Json | undefined, path: string): FieldFault[] {
  const conditions = itemsOf(list)
  const types = mapEach('types of conditions', conditions, ({ type }) => textOf(type))
  const repeats = repeatsIn(types)
  return faultsOfEach(conditions, (condition, at) => [
    ...(repeats.has(at) ? [duplicate(`${path}[${at}].type`, types[at] ?? '')] : []),
    ...validateCondition(condition, `${path}[${at}]`),
  ])
}

function validateCondition(condition: Fields, path: string): FieldFault[] {
  const { lastTransitionTime, observedGeneration } = condition
  const status = textOf(condition['status'])
  const faults = checked(`${path}.type`, textOf(condition['type']), checkQualifiedName)
  if (!statuses.includes(status)) faults.push(notSupported(`${path}.status`, status, statuses))
  if (typeof observedGeneration === 'number' && observedGeneration < 0) {
    const why = 'must be greater than or equal to zero'
    faults.push(invalidValue(`${path}.observedGeneration`, observedGeneration, why))
  }
  if (textOf(lastTransitionTime) === '')
    faults.push(required(`${path}.lastTransitionTime`, 'must be set'))
  faults.push(...validateReason(textOf(condition['reason']), `${path}.reason`))
  if (Buffer.byteLength(textOf(condition['message'])) > MESSAGE_BYTES_MAX) {
    faults.push(tooLong(`${path}.message`, MESSAGE_BYTES_MAX))
  }
  return faults
}

function validateReason(reason: string, path: string): FieldFault[] {
  if (reason === '') return [required(path, 'must be set')]
  const faults = isReason.test(reason) ? [] : [invalidValue(path, reason, reasonRule)]
  return Buffer.byteLength(reason) > REASON_BYTES_MAX
    ? [...faults, tooLong(path, REASON_BYTES_MAX)]
    : faults
}
