import { type FieldFault, invalidShown, invalidValue, required } from '../../../api/field-fault.ts'
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
  const huge = hugeNumberIn(data)
  if (huge !== undefined) {
    const why = `json: cannot unmarshal number ${huge} into Go value of type float64`
    return [invalidValue('data', '<value omitted>', `error parsing data: ${why}`)]
  }
  return data.startsWith('{') ? [] : [required('data', 'data must be a valid JSON object')]
}

/** The first that 64 bits do not hold. Few texts have what may be one, and only those are looked through. */
function hugeNumberIn(json: string): string | undefined {
  if (!/[eE]\+?\d{3}|\d{309}/.test(json)) return undefined
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g)) {
    if (!token.startsWith('"') && !Number.isFinite(Number(token))) return token
  }
  return undefined
}

function goRaw(data: Json | undefined): string {
  const bytes = [...Buffer.from(textOf(data))].map((byte) => `0x${byte.toString(16)}`)
  const raw = typeof data === 'string' ? `[]uint8{${bytes.join(', ')}}` : '[]uint8(nil)'
  return `runtime.RawExtension{Raw:${raw}, Object:runtime.Object(nil)}`
}
