/**
 * Prepares the fields of a Service before validation. If a client does not know an allocated field
 * and omits it, the stored value is kept. If the type changes, fields that the new type cannot have
 * are dropped.
 */
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import {
  isExposed,
  needsClusterIp,
  needsHealthPort,
  needsNodePorts,
  mayHaveNodePorts,
  nodePortsOf,
  specOf,
  typeOf,
} from './service-needs.ts'

export function prepareUpdate(object: KubeObject, current: KubeObject): KubeObject {
  const before = specOf(current)
  // Complete the address list first, because it is then compared with the stored list.
  const spec = withoutMisplaced(pluralOf(withAllocated(specOf(object), before), before), before)
  const prepared = { ...object, spec }
  if (typeOf(spec) === 'LoadBalancer' || !isFields(object['status'])) return prepared
  return { ...prepared, status: { ...object['status'], loadBalancer: {} } }
}

/** Sets clusterIPs for old clients, which set only clusterIP. */
export function withPlural(object: KubeObject): KubeObject {
  const spec = specOf(object)
  const ip = textOf(spec['clusterIP'])
  if (ip === '' || textsOf(spec['clusterIPs']).length > 0) return object
  return { ...object, spec: { ...spec, clusterIPs: [ip] } }
}

/**
 * Makes clusterIPs consistent with clusterIP. If the request changes or removes only clusterIP,
 * clusterIPs follows. If the request keeps clusterIP and omits clusterIPs, the stored list is kept.
 */
function pluralOf(spec: Fields, before: Fields): Fields {
  const ip = textOf(spec['clusterIP'])
  if (ip === textOf(before['clusterIP'])) {
    return textsOf(spec['clusterIPs']).length > 0
      ? spec
      : { ...spec, clusterIPs: before['clusterIPs'] }
  }
  if (!isSame(spec['clusterIPs'], before['clusterIPs'])) return spec
  return { ...spec, clusterIPs: ip === '' ? [] : [ip] }
}

/** Keeps allocated fields that are missing in the request. */
function withAllocated(given: Fields, before: Fields): Fields {
  let spec = given
  if (needsClusterIp(before) && needsClusterIp(spec)) {
    const clusterIP = textOf(spec['clusterIP']) || textOf(before['clusterIP'])
    const isKept = textsOf(spec['clusterIPs']).length === 0
    spec = { ...spec, clusterIP, ...(isKept ? { clusterIPs: before['clusterIPs'] } : {}) }
  }
  if (needsNodePorts(before) && needsNodePorts(spec)) spec = withNodePorts(spec, before)
  if (
    needsHealthPort(before) &&
    needsHealthPort(spec) &&
    numberOf(spec['healthCheckNodePort']) === 0
  ) {
    spec = { ...spec, healthCheckNodePort: before['healthCheckNodePort'] }
  }
  return spec
}

/**
 * Gives each port without a node port the stored node port of the same name, unless another port
 * now uses it.
 */
function withNodePorts(spec: Fields, before: Fields): Fields {
  const byName = new Map(
    itemsOf(before['ports']).map(({ name, nodePort }) => [textOf(name), numberOf(nodePort)]),
  )
  const used = new Set(nodePortsOf(spec))
  const ports = itemsOf(spec['ports']).map((port) => {
    const known = byName.get(textOf(port['name'])) ?? 0
    if (numberOf(port['nodePort']) !== 0 || known === 0 || used.has(known)) return port
    return { ...port, nodePort: known }
  })
  return ports.length === 0 ? spec : { ...spec, ports }
}

/**
 * Drops fields that the new type cannot have, if they are unchanged. Fields that the client has
 * changed are kept, so that validation refuses them.
 */
function withoutMisplaced(spec: Fields, before: Fields): Fields {
  const dropped = new Set<string>()
  const dropUnchanged = (names: readonly string[]): void => {
    for (const name of names) if (isSame(spec[name], before[name])) dropped.add(name)
  }
  if (needsClusterIp(before) && !needsClusterIp(spec)) {
    const addresses = ['clusterIP', 'clusterIPs']
    if (addresses.every((name) => isSame(spec[name], before[name]))) dropUnchanged(addresses)
    dropUnchanged(['ipFamilies', 'ipFamilyPolicy'])
  }
  if (needsHealthPort(before) && !needsHealthPort(spec)) dropUnchanged(['healthCheckNodePort'])
  if (isExposed(before) && !isExposed(spec)) dropUnchanged(['externalTrafficPolicy'])
  if (typeOf(before) === 'LoadBalancer' && typeOf(spec) !== 'LoadBalancer') {
    dropUnchanged(['allocateLoadBalancerNodePorts', 'loadBalancerClass'])
  }
  const kept = Object.fromEntries(Object.entries(spec).filter(([name]) => !dropped.has(name)))
  // An update that changes the type can also add or remove ports. Node ports are dropped only if
  // the stored Service already has all of them.
  const known = new Set(nodePortsOf(before))
  const losesPorts =
    mayHaveNodePorts(before) &&
    !mayHaveNodePorts(spec) &&
    nodePortsOf(spec).every((port) => known.has(port))
  if (!losesPorts || !Array.isArray(kept['ports'])) return kept
  return { ...kept, ports: itemsOf(kept['ports']).map(withoutNodePort) }
}

function withoutNodePort(port: Fields): Fields {
  const { nodePort: _, ...rest } = fieldsOf(port)
  return rest
}
