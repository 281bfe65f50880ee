/** Sets the defaults that apply to Pods, but not to Pod templates. */
import type { Gates } from '../../../../api/gates.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  type KubeObject,
  numberOf,
} from '../../../../api/object.ts'
import { mapEach } from '../../../../lib/scheduling/parts.ts'
import { withPodLevelDefaults } from './pod-level.ts'

export function setPodDefaults(pod: KubeObject, gates: Gates): KubeObject {
  const spec = fieldsOf(pod['spec'])
  const isHostNetwork = spec['hostNetwork'] === true
  const complete = (one: Fields): Fields => withHostPorts(withRequests(one), isHostNetwork)
  const lists = ['initContainers', 'containers'].flatMap((name): [string, Json][] => {
    const list = spec[name]
    if (!Array.isArray(list)) return []
    return [[name, mapEach('defaults of containers', itemsOf(list), complete)]]
  })
  const whole = { enableServiceLinks: true, ...spec, ...Object.fromEntries(lists) }
  return { ...pod, spec: withGrace(withPodLevelDefaults(whole, gates)) }
}

/** Replaces a negative grace period by one second. */
function withGrace(spec: Fields): Fields {
  return numberOf(spec['terminationGracePeriodSeconds']) < 0
    ? { ...spec, terminationGracePeriodSeconds: 1 }
    : spec
}

/** Sets absent requests to the values of the limits. */
function withRequests(container: Fields): Fields {
  const resources = fieldsOf(container['resources'])
  const { limits, requests } = resources
  if (!isFields(limits) || Object.keys(limits).length === 0) return container
  return {
    ...container,
    resources: { ...resources, requests: { ...limits, ...fieldsOf(requests) } },
  }
}

/** Sets an absent hostPort to the containerPort, if the Pod uses hostNetwork. */
function withHostPorts(container: Fields, isHostNetwork: boolean): Fields {
  const { ports } = container
  if (!isHostNetwork || !Array.isArray(ports)) return container
  const open = mapEach('ports with defaults', itemsOf(ports), (port) =>
    numberOf(port['hostPort']) === 0 && port['containerPort'] !== undefined
      ? { ...port, hostPort: port['containerPort'] }
      : port,
  )
  return { ...container, ports: open }
}
