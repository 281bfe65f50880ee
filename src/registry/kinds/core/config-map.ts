import { type FieldFault, forbiddenField, invalidValue, tooLong } from '../../../api/field-fault.ts'
import { checkConfigKey } from '../../../api/names.ts'
import { fieldsOf, type KubeObject } from '../../../api/object.ts'
import { eachKey } from '../../../lib/scheduling/parts.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import type { KindRules } from '../../kind-rules.ts'
import { isEqualAs } from '../../rules/equality.ts'

/** Maximum total size of all values of a ConfigMap. */
const VALUES_BYTES_MAX = 1024 * 1024

export const configMapRules: KindRules = {
  strategy: { updateChecks: ['change', 'rules', 'metadata'] },
  validate,
  validateUpdate: (object, current) => [...validateImmutable(object, current), ...validate(object)],
}

function validate(object: KubeObject): FieldFault[] {
  const data = fieldsOf(object['data'])
  const binaryData = fieldsOf(object['binaryData'])
  const isBinary = (key: string): boolean => Object.hasOwn(binaryData, key)
  const texts = eachKey('data of ConfigMap', data, newFound, (found, key) => {
    for (const fault of checkConfigKey(key))
      found.faults.push(invalidValue(`data[${key}]`, key, fault))
    if (isBinary(key))
      found.faults.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'))
    const value = data[key]
    found.bytes += typeof value === 'string' ? Buffer.byteLength(value) : 0
    return true
  })
  const binaries = eachKey('binaryData of ConfigMap', binaryData, newFound, (found, key) => {
    for (const fault of checkConfigKey(key))
      found.faults.push(invalidValue(`binaryData[${key}]`, key, fault))
    const value = binaryData[key]
    found.bytes += typeof value === 'string' ? Buffer.byteLength(value, 'base64') : 0
    return true
  })
  const faults = [...texts.faults, ...binaries.faults]
  // As in kube-apiserver, the path of this error is empty, which is printed as `[]`.
  if (texts.bytes + binaries.bytes > VALUES_BYTES_MAX) faults.push(tooLong('[]', VALUES_BYTES_MAX))
  return faults
}

type DataCheckResult = { readonly faults: FieldFault[]; bytes: number }

const newFound = (): DataCheckResult => ({ faults: [], bytes: 0 })

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
