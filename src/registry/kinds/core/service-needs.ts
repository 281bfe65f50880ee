/**
 * Predicates for the features that each type of Service has. All rules for Services use these
 * predicates.
 */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
  textsOf,
} from '../../../api/object.ts'

export const NO_ADDRESS = 'None'

export const specOf = (service: KubeObject): Fields => fieldsOf(service['spec'])

export const typeOf = (spec: Fields): string => textOf(spec['type'])

/** Whether the Service is headless. A headless Service has only DNS records, and no cluster IP. */
export const isHeadless = (spec: Fields): boolean => textsOf(spec['clusterIPs'])[0] === NO_ADDRESS

export const isSelectorless = (spec: Fields): boolean =>
  Object.keys(fieldsOf(spec['selector'])).length === 0

/**
 * Whether the Service needs a cluster IP. Returns true for an unknown type, so that only the
 * invalid type is reported.
 */
export const needsClusterIp = (spec: Fields): boolean => typeOf(spec) !== 'ExternalName'

/** Whether the Service needs node ports. The server allocates node ports that are not set. */
export const needsNodePorts = (spec: Fields): boolean =>
  typeOf(spec) === 'NodePort' ||
  (typeOf(spec) === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] !== false)

/** Whether the Service can have node ports, even if the server does not allocate them. */
export const mayHaveNodePorts = (spec: Fields): boolean =>
  typeOf(spec) === 'NodePort' || typeOf(spec) === 'LoadBalancer'

/**
 * Whether the Service needs a health check node port, on which nodes report whether they have a
 * local endpoint.
 */
export const needsHealthPort = (spec: Fields): boolean =>
  typeOf(spec) === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local'

export const isExposed = (spec: Fields): boolean =>
  mayHaveNodePorts(spec) ||
  (typeOf(spec) === 'ClusterIP' && textsOf(spec['externalIPs']).length > 0)

export const nodePortsOf = (spec: Fields): number[] =>
  itemsOf(spec['ports'])
    .map(({ nodePort }) => numberOf(nodePort))
    .filter((port) => port !== 0)

/** Returns the cluster IPs that are allocated to the Service. */
export const ownIpsOf = (spec: Fields): readonly string[] =>
  needsClusterIp(spec) && !isHeadless(spec) ? textsOf(spec['clusterIPs']) : []
