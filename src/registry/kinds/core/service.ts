/** What a Service gets by itself. Addresses and ports are handed out elsewhere, and its rules come later. */
import { type Fields, fieldsOf, type KubeObject } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'

/** Three hours. */
const AFFINITY_SECONDS = 10_800

export const serviceRules: KindRules = {
  selectableFields: ['spec.clusterIP', 'spec.type'],
  setDefaults: (object) => ({ ...object, spec: withDefaults(fieldsOf(object['spec'])) }),
  prepareCreate: withFamilies,
}

function withDefaults(given: Fields): Fields {
  const { sessionAffinityConfig, ...rest } = given
  const { type = 'ClusterIP', sessionAffinity = 'None', externalIPs } = given
  const isExternalName = type === 'ExternalName'
  const isExposed =
    type === 'NodePort' || type === 'LoadBalancer' || (Array.isArray(externalIPs) && externalIPs.length > 0)
  const affinity = { clientIP: { timeoutSeconds: AFFINITY_SECONDS }, ...fieldsOf(sessionAffinityConfig) }
  return {
    type,
    sessionAffinity,
    ...(isExternalName ? {} : { internalTrafficPolicy: 'Cluster' }),
    ...(isExposed ? { externalTrafficPolicy: 'Cluster' } : {}),
    ...(type === 'LoadBalancer' ? { allocateLoadBalancerNodePorts: true } : {}),
    ...rest,
    ...(sessionAffinity === 'ClientIP' ? { sessionAffinityConfig: affinity } : {}),
  }
}

/** A service without an address of its own needs nobody to hand one out. */
function withFamilies(object: KubeObject): KubeObject {
  const spec = fieldsOf(object['spec'])
  if (spec['clusterIP'] !== 'None') return object
  const hasSelector = Object.keys(fieldsOf(spec['selector'])).length > 0
  const families = hasSelector ? ['IPv4'] : ['IPv4', 'IPv6']
  const ipFamilyPolicy = hasSelector ? 'SingleStack' : 'RequireDualStack'
  return { ...object, spec: { clusterIPs: ['None'], ipFamilies: families, ipFamilyPolicy, ...spec } }
}
