import { type FieldFault, forbiddenField, invalidValue, tooLong } from '../../../api/field-fault.ts'
import { checkConfigKey } from '../../../api/names.ts'
import { fieldsOf, type KubeObject } from '../../../api/object.ts'
import { isSame } from '../../../schema/equal.ts'
import type { KindRules } from '../../kind-rules.ts'
import { isEqualAs } from '../../rules/equality.ts'

/** The limit for all values of one ConfigMap together. */
const VALUES_BYTES_MAX = 1024 * 1024

export const configMapRules: KindRules = {
  strategy: { updateChecks: ['change', 'rules', 'metadata'] },
  validate,
  validateUpdate: (object, current) => [...validateImmutable(object, current), ...validate(object)],
}

function validate(object: KubeObject): FieldFault[] {
  const data = Object.entries(fieldsOf(object['data']))
  const binaryData = Object.entries(fieldsOf(object['binaryData']))
  const binaryKeys = new Set(binaryData.map(([key]) => key))
  const faults: FieldFault[] = []
  let valuesBytes = 0
  for (const [key, value] of data) {
    for (const fault of checkConfigKey(key)) faults.push(invalidValue(`data[${key}]`, key, fault))
    if (binaryKeys.has(key)) faults.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'))
    valuesBytes += typeof value === 'string' ? Buffer.byteLength(value) : 0
  }
  for (const [key, value] of binaryData) {
    for (const fault of checkConfigKey(key)) faults.push(invalidValue(`binaryData[${key}]`, key, fault))
    valuesBytes += typeof value === 'string' ? Buffer.byteLength(value, 'base64') : 0
  }
  // As in kube-apiserver, the path of this fault is empty.
  if (valuesBytes > VALUES_BYTES_MAX) faults.push(tooLong('[]', VALUES_BYTES_MAX))
  return faults
}

function validateImmutable(object: KubeObject, current: KubeObject): FieldFault[] {
  if (current['immutable'] !== true) return []
  const frozen = 'field is immutable when `immutable` is set'
  const { binaryData } = object
  const was = { binaryData: current['binaryData'] }
  const isBinaryChanged = !isEqualAs('core/v1 ConfigMap', { binaryData }, was, 'exact')
  const faults: FieldFault[] = []
  if (object['immutable'] !== true) faults.push(forbiddenField('immutable', frozen))
  if (!isSame(object['data'], current['data'])) faults.push(forbiddenField('data', frozen))
  if (isBinaryChanged) faults.push(forbiddenField('binaryData', frozen))
  return faults
}
