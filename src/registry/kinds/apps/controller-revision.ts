import { type FieldFault, invalidShown, required } from '../../../api/field-fault.ts'
import { type Json, type KubeObject, textOf } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { faultsOf } from '../../rules/rule.ts'
import { nonNegative } from '../../rules/scalars.ts'

export const controllerRevisionRules: KindRules = {
  strategy: { updateChecks: ['change', 'rules', 'metadata'] },
  validate: (object) => [...validateRevision(object), ...validateData(object)],
  validateUpdate: (object, current) => {
    const { data } = object
    const faults = validateRevision(object)
    if (data === current['data']) return faults
    return [...faults, invalidShown('data', goRaw(data), 'field is immutable')]
  },
}

const validateRevision = ({ revision }: KubeObject): FieldFault[] => faultsOf(nonNegative, revision, 'revision')

/** Its text begins as an object does: it was JSON before it came here. */
function validateData(object: KubeObject): FieldFault[] {
  const data = textOf(object['data'])
  if (data === '' || data === 'null') return [required('data', 'data is mandatory')]
  return data.startsWith('{') ? [] : [required('data', 'data must be a valid JSON object')]
}

function goRaw(data: Json | undefined): string {
  const bytes = [...Buffer.from(textOf(data))].map((byte) => `0x${byte.toString(16)}`)
  const raw = typeof data === 'string' ? `[]uint8{${bytes.join(', ')}}` : '[]uint8(nil)'
  return `runtime.RawExtension{Raw:${raw}, Object:runtime.Object(nil)}`
}
