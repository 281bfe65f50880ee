/**
 * Defaults of Services. Other files in this directory contain their rules. The files in
 * src/request/allocators allocate addresses and ports.
 */
import { parseIp } from '../../../api/ip.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type KubeObject,
  omit,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import type { ClusterFacts, KindRules } from '../../kind-rules.ts'
import { isExposed, needsClusterIp, NO_ADDRESS, specOf, typeOf } from './service-needs.ts'
import { prepareUpdate, withPlural } from './service-prepare.ts'
import { trafficPolicies, validate, validateStatus } from './service-validate.ts'
import { validateUpdate } from './service-validate-update.ts'
import { warnings } from './service-warnings.ts'

/** Default timeout of session affinity, which is three hours. */
const AFFINITY_SECONDS = 10_800

/** The first release in which an update validates the metadata only once. */
const ONCE_SINCE = 34

export const serviceRules: KindRules = {
  strategy: {
    names: 'dns1035',
    labelGate: 'RelaxedServiceNameValidation',
    updateChecks: ['change', 'rules', 'metadata'],
    laterUpdateChecks: { since: ONCE_SINCE, checks: ['change', 'rules'] },
    createsOnUpdate: true,
    returnsDeleted: true,
  },
  selectableFields: ['spec.clusterIP', 'spec.type'],
  setDefaults: (object, gates) => {
    const defaulted = { ...object, spec: withDefaults(fieldsOf(object['spec'])) }
    return gates.isOn('LoadBalancerIPMode') ? withIpModes(defaulted) : defaulted
  },
  prepareCreate: withoutTrafficPolicy,
  prepareUpdate: (object, current) => withoutTrafficPolicy(prepareUpdate(object, current)),
  validate,
  validateUpdate,
  warnings,
  status: { validateUpdate: validateStatus, updateChecks: ['change', 'rules'] },
  completeStored: withFamilies,
}

/**
 * Completes a stored Service. Servers without dual-stack support stored a single address and no IP
 * families.
 */
function withFamilies(object: KubeObject, { ipFamily }: ClusterFacts): KubeObject {
  const spec = specOf(object)
  if (!needsClusterIp(spec)) return withoutTrafficPolicy(object)
  const complete = withPlural(object)
  if (textsOf(spec['ipFamilies']).length > 0) return complete
  const { clusterIPs, selector } = specOf(complete)
  const ips = textsOf(clusterIPs)
  const other = ipFamily === 'IPv4' ? 'IPv6' : 'IPv4'
  const isFree = Object.keys(fieldsOf(selector)).length === 0
  const families =
    ips[0] === NO_ADDRESS
      ? [ipFamily, ...(isFree ? [other] : [])]
      : ips.map((ip) => parseIp(ip)?.family ?? 'IPv4')
  if (families.length === 0) return complete
  const ipFamilyPolicy = families.length === 1 ? 'SingleStack' : 'RequireDualStack'
  return { ...complete, spec: { ...specOf(complete), ipFamilies: families, ipFamilyPolicy } }
}

/**
 * Drops a valid internalTrafficPolicy from an ExternalName Service, to which it does not apply. An
 * invalid value is kept, so that validation refuses it.
 */
function withoutTrafficPolicy(object: KubeObject): KubeObject {
  const spec = specOf(object)
  const isPolicy = trafficPolicies.some((policy) => policy === spec['internalTrafficPolicy'])
  if (typeOf(spec) !== 'ExternalName' || !isPolicy) return object
  return { ...object, spec: omit(spec, 'internalTrafficPolicy') }
}

function withDefaults(given: Fields): Fields {
  const { sessionAffinityConfig, ...rest } = given
  const sessionAffinity = textOf(given['sessionAffinity']) || 'None'
  const spec = { ...rest, type: textOf(given['type']) || 'ClusterIP', sessionAffinity }
  const isExternalName = typeOf(spec) === 'ExternalName'
  const hasPolicy = textOf(given['externalTrafficPolicy']) !== ''
  return {
    ...spec,
    ...(isExternalName
      ? {}
      : { internalTrafficPolicy: given['internalTrafficPolicy'] ?? 'Cluster' }),
    ...(isExposed(spec) && !hasPolicy ? { externalTrafficPolicy: 'Cluster' } : {}),
    ...(typeOf(spec) === 'LoadBalancer'
      ? { allocateLoadBalancerNodePorts: given['allocateLoadBalancerNodePorts'] ?? true }
      : {}),
    ...affinityConfig(sessionAffinity, sessionAffinityConfig),
  }
}

/**
 * Returns the configuration of session affinity. Without session affinity, the configuration is
 * removed.
 */
function affinityConfig(affinity: string, given: Fields[string]): Fields {
  if (affinity === 'None') return {}
  const isSet = (fieldsOf(fieldsOf(given)['clientIP'])['timeoutSeconds'] ?? null) !== null
  if (affinity === 'ClientIP' && !isSet) {
    return { sessionAffinityConfig: { clientIP: { timeoutSeconds: AFFINITY_SECONDS } } }
  }
  return isFields(given) ? { sessionAffinityConfig: given } : {}
}

/** Sets the ipMode of load balancer addresses to its default, VIP. */
function withIpModes(object: KubeObject): KubeObject {
  const status = fieldsOf(object['status'])
  const loadBalancer = fieldsOf(status['loadBalancer'])
  const points = itemsOf(loadBalancer['ingress'])
  if (typeOf(fieldsOf(object['spec'])) !== 'LoadBalancer' || points.length === 0) return object
  const ingress = points.map((point) =>
    textOf(point['ip']) !== '' && (point['ipMode'] ?? null) === null
      ? { ...point, ipMode: 'VIP' }
      : point,
  )
  return { ...object, status: { ...status, loadBalancer: { ...loadBalancer, ingress } } }
}
