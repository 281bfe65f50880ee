import { type FieldFault, invalidValue, required } from '../../../api/field-fault.ts'
import { checkDns1035Label, checkDnsSubdomain } from '../../../api/names.ts'
import { type Fields, fieldsOf, type Json, type KubeObject } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import type { KindRules } from '../../kind-rules.ts'

const GROUP_PRIORITY_MAX = 20_000
const VERSION_PRIORITY_MAX = 1000

export const apiServiceRules: KindRules = { prepareCreate, validate }

/** One that names no service stands for what this server serves itself, which is always there. */
function prepareCreate(object: KubeObject): KubeObject {
  const { service } = fieldsOf(object['spec'])
  if (service !== undefined && service !== null) return object
  const condition = {
    type: 'Available',
    status: 'True',
    lastTransitionTime: object.metadata.creationTimestamp,
    reason: 'Local',
    message: 'Local APIServices are always available',
  }
  return { ...object, status: { conditions: [condition] } }
}

function validate(object: KubeObject): FieldFault[] {
  const { name = '' } = object.metadata
  const spec = fieldsOf(object['spec'])
  const group = textOf(spec['group'])
  const version = textOf(spec['version'])
  const faults: FieldFault[] = []
  const wanted = `${version}.${group}`
  if (name !== '' && name !== wanted) {
    faults.push(invalidValue('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${quote(wanted)}`))
  }
  if (group === '' && version !== 'v1') {
    faults.push(required('spec.group', 'only v1 may have an empty group and it better be legacy kube'))
  }
  if (group !== '') faults.push(...checkDnsSubdomain(group).map((why) => invalidValue('spec.group', group, why)))
  faults.push(...checkDns1035Label(version).map((why) => invalidValue('spec.version', version, why)))
  faults.push(...validatePriority(spec, 'groupPriorityMinimum', GROUP_PRIORITY_MAX))
  faults.push(...validatePriority(spec, 'versionPriority', VERSION_PRIORITY_MAX))
  return faults
}

function validatePriority(spec: Fields, field: string, max: number): FieldFault[] {
  const value = spec[field]
  const priority = typeof value === 'number' ? value : 0
  if (priority > 0 && priority <= max) return []
  return [invalidValue(`spec.${field}`, priority, `must be positive and less than ${max}`)]
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
