import {
  checked,
  faultsOfEach,
  type FieldFault,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { checkDns1035Label, checkDnsSubdomain, checkPathSegment } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
} from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import type { KindRules } from '../../kind-rules.ts'

const GROUP_PRIORITY_MAX = 20_000
const VERSION_PRIORITY_MAX = 1000
const PORT_MAX = 65_535
const statuses = ['True', 'False', 'Unknown']

export const apiServiceRules: KindRules = {
  strategy: {
    names: 'any',
    finalizersNeedNoDomain: true,
    updateChecks: ['change', 'rules', 'metadata'],
    needsResourceVersion: true,
    statusKeeps: 'metadata',
  },
  prepareCreate,
  validate,
  status: { validateUpdate: validateStatus },
}

/**
 * Sets the status of a new APIService. An APIService without a service is served by this server
 * itself, so it is always available.
 */
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
  const { name = '', generateName = '' } = object.metadata
  const spec = fieldsOf(object['spec'])
  const [group, version] = [textOf(spec['group']), textOf(spec['version'])]
  const isUnnamed = group === '' && version !== 'v1'
  return [
    ...validateName(generateName, 'metadata.generateName', `${version}.${group}`),
    ...validateName(name, 'metadata.name', `${version}.${group}`),
    ...(isUnnamed
      ? [required('spec.group', 'only v1 may have an empty group and it better be legacy kube')]
      : []),
    ...(group === '' ? [] : checked('spec.group', group, checkDnsSubdomain)),
    ...checked('spec.version', version, checkDns1035Label),
    ...validatePriority(spec, 'groupPriorityMinimum', GROUP_PRIORITY_MAX),
    ...validatePriority(spec, 'versionPriority', VERSION_PRIORITY_MAX),
    ...(spec['service'] === undefined ? validateLocal(spec) : validateRemote(spec)),
  ]
}

function validateName(name: string, path: string, wanted: string): FieldFault[] {
  const faults = checked(path, name, checkPathSegment)
  if (faults.length > 0 || name === '' || name === wanted) return faults
  return [invalidValue(path, name, `must be \`spec.version+"."+spec.group\`: ${quote(wanted)}`)]
}

/**
 * Validates an APIService without a service. It must not have a TLS configuration, because no
 * connection is made for it.
 */
function validateLocal({ caBundle, insecureSkipTLSVerify }: Fields): FieldFault[] {
  const bytes = Buffer.byteLength(textOf(caBundle), 'base64')
  const shown = `${bytes} bytes`
  return [
    ...(bytes > 0
      ? [invalidValue('spec.caBundle', shown, 'local APIServices may not have a caBundle')]
      : []),
    ...(insecureSkipTLSVerify === true
      ? [
          invalidValue(
            'spec.insecureSkipTLSVerify',
            true,
            'local APIServices may not have insecureSkipTLSVerify',
          ),
        ]
      : []),
  ]
}

function validateRemote({ caBundle, insecureSkipTLSVerify, service }: Fields): FieldFault[] {
  const { name, namespace, port } = fieldsOf(service)
  const faults: FieldFault[] = []
  if (textOf(namespace) === '') faults.push(required('spec.service.namespace'))
  if (textOf(name) === '') faults.push(required('spec.service.name'))
  const number = numberOf(port)
  if (number < 1 || number > PORT_MAX) {
    const why = `port is not valid: must be between 1 and ${PORT_MAX}, inclusive`
    faults.push(invalidValue('spec.service.port', number, why))
  }
  if (insecureSkipTLSVerify === true && textOf(caBundle) !== '') {
    faults.push(
      invalidValue('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'),
    )
  }
  return faults
}

function validateStatus(object: KubeObject): FieldFault[] {
  return faultsOfEach(itemsOf(fieldsOf(object['status'])['conditions']), ({ status }, at) =>
    statuses.includes(textOf(status))
      ? []
      : [notSupported(`status.conditions[${at}].status`, textOf(status), statuses)],
  )
}

function validatePriority(spec: Fields, field: string, max: number): FieldFault[] {
  const priority = numberOf(spec[field])
  if (priority > 0 && priority <= max) return []
  return [invalidValue(`spec.${field}`, priority, `must be positive and less than ${max}`)]
}
