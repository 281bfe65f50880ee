import {
  faultsOfEach,
  checked,
  duplicate,
  type FieldFault,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../../../api/field-fault.ts'
import { parseIp } from '../../../api/ip.ts'
import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkLabelValue,
  checkQualifiedName,
} from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  listOf,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { isEqualAs } from '../../rules/equality.ts'
import type { KindRules } from '../../kind-rules.ts'
import { checkCanonicalIp, checkIp, validateTarget, warnOfIp } from '../../rules/addresses.ts'
import { protocols } from '../../rules/ports.ts'
import { warningsOfEach } from '../../rules/warnings.ts'

const ENDPOINTS_MAX = 1000
const ADDRESSES_MAX = 100
const PORTS_MAX = 20_000
const ZONE_HINTS_MAX = 8
const addressTypes = ['FQDN', 'IPv4', 'IPv6'] as const

export const endpointSliceRules: KindRules = {
  strategy: {
    updateChecks: ['metadata', 'rules'],
    generation: { fields: ['endpoints', 'ports', 'addressType', 'metadata.labels'] },
  },
  prepareCreate: (object) => withoutTopology(object),
  prepareUpdate: (object, current) => withoutTopology(object, current),
  validate: (object) => [
    ...validateType(object),
    ...validateEndpoints(object),
    ...validatePorts(object),
  ],
  validateUpdate,
  warnings: (object, current) => [
    ...(current === undefined && object['addressType'] === 'FQDN'
      ? ['spec.addressType: FQDN endpoints are deprecated']
      : []),
    ...addressWarnings(object),
  ],
}

/**
 * Drops deprecatedTopology, because v1 has fields that replace it. If the field is stored, it is
 * kept until the endpoints change.
 */
function withoutTopology(object: KubeObject, current?: KubeObject): KubeObject {
  const { endpoints } = object
  if (!itemsOf(endpoints).some(hasTopology) || areSame(endpoints, current?.['endpoints']))
    return object
  const known = new Set(
    itemsOf(current?.['endpoints']).map(({ deprecatedTopology }) => hostOf(deprecatedTopology)),
  )
  const changed = itemsOf(endpoints).map((given) => {
    const { deprecatedTopology, ...endpoint } = given
    const host = hostOf(deprecatedTopology)
    const isNode = host !== '' && known.has(host) && checkDnsSubdomain(host).length === 0
    return endpoint['nodeName'] === undefined && isNode ? { ...endpoint, nodeName: host } : endpoint
  })
  return { ...object, endpoints: changed }
}

const areSame = (endpoints: Json | undefined, before: Json | undefined): boolean =>
  isEqualAs('discovery/v1 EndpointSlice', { endpoints }, { endpoints: before })

const hasTopology = ({ deprecatedTopology }: Fields): boolean => deprecatedTopology !== undefined

const hostOf = (topology: Json | undefined): string =>
  textOf(fieldsOf(topology)['kubernetes.io/hostname'])

function validateType({ addressType }: KubeObject): FieldFault[] {
  const type = textOf(addressType)
  if (type === '') return [required('addressType')]
  return addressTypes.some((known) => known === type)
    ? []
    : [notSupported('addressType', type, addressTypes)]
}

/** Validates an update. Unchanged endpoints are not validated again. */
function validateUpdate(object: KubeObject, current: KubeObject): FieldFault[] {
  const type = textOf(object['addressType'])
  const isSameType = type === textOf(current['addressType'])
  const isTolerated = areSame(object['endpoints'], current['endpoints'])
  return [
    ...validateType(object),
    ...(isTolerated ? [] : validateEndpoints(object)),
    ...validatePorts(object),
    ...(isSameType ? [] : [invalidValue('addressType', type, 'field is immutable')]),
  ]
}

function validateEndpoints({ addressType, endpoints }: KubeObject): FieldFault[] {
  const list = itemsOf(endpoints)
  if (list.length > ENDPOINTS_MAX) return [tooMany('endpoints', list.length, ENDPOINTS_MAX)]
  return [
    ...faultsOfEach(list, (endpoint, at) =>
      validateEndpoint(`endpoints[${at}]`, endpoint, textOf(addressType)),
    ),
  ]
}

function validateEndpoint(path: string, endpoint: Fields, type: string): FieldFault[] {
  const { nodeName, hostname } = endpoint
  return [
    ...validateAddresses(`${path}.addresses`, textsOf(endpoint['addresses']), type),
    ...(typeof nodeName === 'string'
      ? checked(`${path}.nodeName`, nodeName, checkDnsSubdomain)
      : []),
    ...(typeof hostname === 'string' ? checked(`${path}.hostname`, hostname, checkDnsLabel) : []),
    ...validateZones(`${path}.hints.forZones`, fieldsOf(endpoint['hints'])['forZones']),
  ]
}

function validateAddresses(path: string, addresses: readonly string[], type: string): FieldFault[] {
  if (addresses.length === 0) return [required(path, 'must contain at least 1 address')]
  return [
    ...(addresses.length > ADDRESSES_MAX ? [tooMany(path, addresses.length, ADDRESSES_MAX)] : []),
    ...faultsOfEach(addresses, (address, at) => validateAddress(path, at, { address, type })),
  ]
}

function validateAddress(
  path: string,
  at: number,
  { address, type }: { readonly address: string; readonly type: string },
): FieldFault[] {
  const item = `${path}[${at}]`
  switch (type) {
    case 'FQDN':
      return validateFullName(item, address)
    case 'IPv4':
    case 'IPv6': {
      const faults = checked(item, address, type === 'IPv4' ? checkIp : checkCanonicalIp)
      if (faults.length > 0) return faults
      const isOther = parseIp(address)?.family !== type
      // As in kube-apiserver, the path in the error does not contain an index.
      const family = isOther ? [invalidValue(path, address, `must be an ${type} address`)] : []
      return [...family, ...validateTarget(item, address)]
    }
    default:
      return []
  }
}

function validateFullName(path: string, name: string): FieldFault[] {
  if (name === '') return [required(path)]
  const faults = checked(path, name, checkDnsSubdomain)
  if (faults.length > 0 || name.includes('.')) return faults
  return [
    invalidValue(path, name, 'should be a domain with at least two segments separated by dots'),
  ]
}

function validateZones(path: string, zones: Json | undefined): FieldFault[] {
  const { length } = listOf(zones)
  if (length > ZONE_HINTS_MAX) return [tooMany(path, length, ZONE_HINTS_MAX)]
  const names = itemsOf(zones).map(({ name }) => textOf(name))
  return faultsOfEach(names, (name, at) => [
    // Bounded: there are at most ZONE_HINTS_MAX names, so each search is short.
    ...(names.indexOf(name) < at ? [duplicate(`${path}[${at}].name`, name)] : []),
    ...checked(`${path}[${at}].name`, name, checkLabelValue),
  ])
}

function validatePorts({ ports }: KubeObject): FieldFault[] {
  const list = itemsOf(ports)
  if (list.length > PORTS_MAX) return [tooMany('ports', list.length, PORTS_MAX)]
  const names = list.map(({ name }) => textOf(name))
  const firsts = new Map(names.map((name, at) => [name, at] as const).toReversed())
  return faultsOfEach(list, ({ protocol, appProtocol }, at) => {
    const path = `ports[${at}]`
    const name = names[at] ?? ''
    const isKnown = protocols.some((known) => known === protocol)
    return [
      ...(name === '' ? [] : checked(`${path}.name`, name, checkDnsLabel)),
      ...((firsts.get(name) ?? at) < at ? [duplicate(`${path}.name`, name)] : []),
      ...(isKnown ? [] : [notSupported(`${path}.protocol`, textOf(protocol), protocols)]),
      ...(typeof appProtocol === 'string'
        ? checked(`${path}.appProtocol`, appProtocol, checkQualifiedName)
        : []),
    ]
  })
}

function addressWarnings({ addressType, endpoints }: KubeObject): string[] {
  if (addressType !== 'IPv4' && addressType !== 'IPv6') return []
  return warningsOfEach(itemsOf(endpoints), (endpoint, at) =>
    warningsOfEach(textsOf(endpoint['addresses']), (address, index) =>
      warnOfIp(`endpoints[${at}].addresses[${index}]`, address),
    ),
  )
}
