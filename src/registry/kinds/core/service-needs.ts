/** What a Service of each type has: all rules about Services use these predicates. */
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

/** A headless Service has no cluster IP, only DNS records. */
export const isHeadless = (spec: Fields): boolean => textsOf(spec['clusterIPs'])[0] === NO_ADDRESS

export const isSelectorless = (spec: Fields): boolean =>
  Object.keys(fieldsOf(spec['selector'])).length === 0

/** True also for an unknown type, so that validation reports the type alone. */
export const needsClusterIp = (spec: Fields): boolean => typeOf(spec) !== 'ExternalName'

/** The server allocates those that are not set. */
export const needsNodePorts = (spec: Fields): boolean =>
  typeOf(spec) === 'NodePort' ||
  (typeOf(spec) === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] !== false)

/** Whether node ports may be set, allocated by the server or not. */
export const mayHaveNodePorts = (spec: Fields): boolean =>
  typeOf(spec) === 'NodePort' || typeOf(spec) === 'LoadBalancer'

/** The health check port, at which nodes report whether they have a local endpoint. */
export const needsHealthPort = (spec: Fields): boolean =>
  typeOf(spec) === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local'

export const isExposed = (spec: Fields): boolean =>
  mayHaveNodePorts(spec) ||
  (typeOf(spec) === 'ClusterIP' && textsOf(spec['externalIPs']).length > 0)

export const nodePortsOf = (spec: Fields): number[] =>
  itemsOf(spec['ports'])
    .map(({ nodePort }) => numberOf(nodePort))
    .filter((port) => port !== 0)

/** The cluster IPs that are allocated to the Service. */
export const ownIpsOf = (spec: Fields): readonly string[] =>
  needsClusterIp(spec) && !isHeadless(spec) ? textsOf(spec['clusterIPs']) : []
