import {
  checked,
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import type { Gates } from '../../../api/gates.ts'
import { checkDnsSubdomain, checkQualifiedName } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { checkCidr, checkIp, validateTarget } from '../../rules/addresses.ts'
import { validateLabels } from '../../rules/label-selector.ts'
import { validateIngressPoint } from '../../rules/load-balancer-status.ts'
import { checkPortNumber } from '../../rules/ports.ts'
import { validateAddresses } from './service-addresses.ts'
import {
  isExposed,
  isHeadless,
  NO_ADDRESS,
  needsHealthPort,
  specOf,
  typeOf,
} from './service-needs.ts'
import { validatePorts } from './service-ports.ts'
import { hintsAnnotation, modeAnnotation } from './service-warnings.ts'

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'] as const
const affinities = ['ClientIP', 'None'] as const
export const trafficPolicies = ['Cluster', 'Local'] as const
const trafficDistributions = ['PreferClose'] as const
const moreDistributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'] as const
const AFFINITY_SECONDS_MAX = 86_400
/** Annotation that was used before spec.loadBalancerSourceRanges existed. */
const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const onlyForLoadBalancers = "may only be used when `type` is 'LoadBalancer'"

export function validate(object: KubeObject, gates: Gates, before?: Fields): FieldFault[] {
  const spec = specOf(object)
  return [
    ...validateTopology(object),
    ...validatePresence(spec),
    ...validatePorts(spec),
    ...validateLabels(spec['selector'], 'spec.selector'),
    ...validateAffinity(spec),
    ...validateAddresses(spec, before),
    ...faultsOfEach(textsOf(spec['externalIPs']), (ip, at) =>
      validateExternalIp(`spec.externalIPs[${at}]`, ip),
    ),
    ...oneOf('spec.type', typeOf(spec), types),
    ...validateSourceRanges(object),
    ...validateNodePortChoice(spec),
    ...validateClass(spec),
    ...validateExternalTraffic(spec),
    ...validateChoices(spec, gates),
  ]
}

export function validateStatus(object: KubeObject): FieldFault[] {
  const points = itemsOf(fieldsOf(fieldsOf(object['status'])['loadBalancer'])['ingress'])
  const path = 'status.loadBalancer.ingress'
  if (points.length > 0 && typeOf(specOf(object)) !== 'LoadBalancer') {
    return [forbiddenField(path, "may only be used when `spec.type` is 'LoadBalancer'")]
  }
  return [...faultsOfEach(points, (point, at) => validateIngressPoint(`${path}[${at}]`, point))]
}

/** Validates loadBalancerClass. As in kube-apiserver, updates validate it twice. */
export function validateClass(spec: Fields): FieldFault[] {
  const { loadBalancerClass: name } = spec
  if (typeof name !== 'string') return []
  const path = 'spec.loadBalancerClass'
  if (typeOf(spec) !== 'LoadBalancer') return [forbiddenField(path, onlyForLoadBalancers)]
  return checked(path, name, checkQualifiedName)
}

const oneOf = (path: string, value: string, supported: readonly string[]): FieldFault[] =>
  supported.includes(value) ? [] : [notSupported(path, value, supported)]

function validateTopology({ metadata: { annotations } }: KubeObject): FieldFault[] {
  const hints = annotations?.[hintsAnnotation]
  const mode = annotations?.[modeAnnotation]
  if (hints === undefined || mode === undefined || hints === mode) return []
  const why = `must match annotations[${hintsAnnotation}] when both are specified`
  return [invalidValue(`metadata.annotations[${modeAnnotation}]`, mode, why)]
}

/**
 * Validates which fields are present. Each Service type requires some fields and forbids others.
 */
function validatePresence(spec: Fields): FieldFault[] {
  const type = typeOf(spec)
  if (type === 'ExternalName') return validateExternalName(spec)
  const needsPorts = itemsOf(spec['ports']).length === 0 && !isHeadless(spec)
  const faults: FieldFault[] = needsPorts ? [required('spec.ports')] : []
  if (!isHeadless(spec) || (type !== 'LoadBalancer' && type !== 'NodePort')) return faults
  const why = `may not be set to 'None' for ${type} services`
  return [...faults, invalidValue('spec.clusterIPs[0]', NO_ADDRESS, why)]
}

function validateExternalName(spec: Fields): FieldFault[] {
  const forbidden = 'may not be set for ExternalName services'
  const name = textOf(spec['externalName']).replace(/\.$/, '')
  return [
    ...(textsOf(spec['clusterIPs']).length > 0
      ? [forbiddenField('spec.clusterIPs', forbidden)]
      : []),
    ...(textsOf(spec['ipFamilies']).length > 0
      ? [forbiddenField('spec.ipFamilies', forbidden)]
      : []),
    ...(typeof spec['ipFamilyPolicy'] === 'string'
      ? [forbiddenField('spec.ipFamilyPolicy', forbidden)]
      : []),
    ...(name === ''
      ? [required('spec.externalName')]
      : checked('spec.externalName', name, checkDnsSubdomain)),
  ]
}

function validateAffinity(spec: Fields): FieldFault[] {
  const affinity = textOf(spec['sessionAffinity'])
  const faults = oneOf('spec.sessionAffinity', affinity, affinities)
  if (affinity !== 'ClientIP') return faults
  const seconds = numberOf(
    fieldsOf(fieldsOf(spec['sessionAffinityConfig'])['clientIP'])['timeoutSeconds'],
  )
  if (seconds > 0 && seconds <= AFFINITY_SECONDS_MAX) return faults
  const why = `must be greater than 0 and less than ${AFFINITY_SECONDS_MAX}`
  return [
    ...faults,
    invalidValue('spec.sessionAffinityConfig.clientIP.timeoutSeconds', seconds, why),
  ]
}

function validateExternalIp(path: string, ip: string): FieldFault[] {
  const faults = checked(path, ip, checkIp)
  return faults.length > 0 ? faults : validateTarget(path, ip)
}

/**
 * Validates source ranges. The annotation is validated only if the field is absent. Spaces around a
 * range are accepted for compatibility with the annotation.
 */
function validateSourceRanges(object: KubeObject): FieldFault[] {
  const spec = specOf(object)
  const isBalanced = typeOf(spec) === 'LoadBalancer'
  const ranges = textsOf(spec['loadBalancerSourceRanges'])
  if (ranges.length > 0) {
    const path = 'spec.LoadBalancerSourceRanges'
    const faults = faultsOfEach(ranges, (range, at) =>
      checked(`${path}[${at}]`, range.trim(), checkCidr),
    )
    return isBalanced ? faults : [forbiddenField(path, onlyForLoadBalancers), ...faults]
  }
  const annotation = object.metadata.annotations?.[sourceRangesAnnotation]
  if (annotation === undefined) return []
  const path = `metadata.annotations[${sourceRangesAnnotation}]`
  if (!isBalanced) return [forbiddenField(path, onlyForLoadBalancers)]
  if (annotation.trim() === '') return []
  return faultsOfEach(annotation.split(','), (range) => checked(path, range.trim(), checkCidr))
}

function validateNodePortChoice(spec: Fields): FieldFault[] {
  const path = 'spec.allocateLoadBalancerNodePorts'
  const isGiven = typeof spec['allocateLoadBalancerNodePorts'] === 'boolean'
  const isBalanced = typeOf(spec) === 'LoadBalancer'
  if (isGiven === isBalanced) return []
  return [isBalanced ? required(path) : forbiddenField(path, onlyForLoadBalancers)]
}

function validateExternalTraffic(spec: Fields): FieldFault[] {
  const policy = textOf(spec['externalTrafficPolicy'])
  const port = numberOf(spec['healthCheckNodePort'])
  const path = 'spec.externalTrafficPolicy'
  const faults = isExposed(spec)
    ? oneOf(path, policy, trafficPolicies)
    : policy === ''
      ? []
      : [invalidValue(path, policy, 'may only be set for externally-accessible services')]
  const healthPath = 'spec.healthCheckNodePort'
  if (needsHealthPort(spec)) {
    return [...faults, ...checkPortNumber(port).map((why) => invalidValue(healthPath, port, why))]
  }
  if (port === 0) return faults
  const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
  return [...faults, invalidValue(healthPath, port, why)]
}

function validateChoices(spec: Fields, gates: Gates): FieldFault[] {
  const { internalTrafficPolicy: policy, trafficDistribution: distribution } = spec
  const known = gates.isOn('PreferSameTrafficDistribution')
    ? moreDistributions
    : trafficDistributions
  return [
    ...(typeof policy === 'string'
      ? oneOf('spec.internalTrafficPolicy', policy, trafficPolicies)
      : []),
    ...(typeof distribution === 'string'
      ? oneOf('spec.trafficDistribution', distribution, known)
      : []),
  ]
}
