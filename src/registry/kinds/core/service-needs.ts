/** What a Service of some type has: every rule about Services begins with one of these questions. */
import { type Fields, fieldsOf, itemsOf, type KubeObject, numberOf, textOf, textsOf } from '../../../api/object.ts'

export const NO_ADDRESS = 'None'

export const specOf = (service: KubeObject): Fields => fieldsOf(service['spec'])

export const typeOf = (spec: Fields): string => textOf(spec['type'])

/** Reached through DNS alone: it has no address of its own. */
export const isHeadless = (spec: Fields): boolean => textsOf(spec['clusterIPs'])[0] === NO_ADDRESS

export const isSelectorless = (spec: Fields): boolean => Object.keys(fieldsOf(spec['selector'])).length === 0

/** A type that nobody knows, too, which validation refuses by its name alone. */
export const needsClusterIp = (spec: Fields): boolean => typeOf(spec) !== 'ExternalName'

/** The server chooses those that are not given. */
export const needsNodePorts = (spec: Fields): boolean =>
  typeOf(spec) === 'NodePort' || (typeOf(spec) === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] !== false)

/** Whether node ports may be given, chosen by the server or not. */
export const mayHaveNodePorts = (spec: Fields): boolean =>
  typeOf(spec) === 'NodePort' || typeOf(spec) === 'LoadBalancer'

/** Nodes answer there whether they have an endpoint. */
export const needsHealthPort = (spec: Fields): boolean =>
  typeOf(spec) === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local'

export const isExposed = (spec: Fields): boolean =>
  mayHaveNodePorts(spec) || (typeOf(spec) === 'ClusterIP' && textsOf(spec['externalIPs']).length > 0)

export const nodePortsOf = (spec: Fields): number[] =>
  itemsOf(spec['ports'])
    .map(({ nodePort }) => numberOf(nodePort))
    .filter((port) => port !== 0)

/** The addresses that stand for the Service and nothing else. */
export const ownIpsOf = (spec: Fields): readonly string[] =>
  needsClusterIp(spec) && !isHeadless(spec) ? textsOf(spec['clusterIPs']) : []
