/** Computes the QoS class of a Pod from its requests and limits. The class affects eviction. */
import type { Gates } from '../../../../api/gates.ts'
import {
  entriesOf,
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
} from '../../../../api/object.ts'
import { nanosOf } from '../../../../api/quantity.ts'
import { saysItself } from './pod-level.ts'

export type QosClass = 'BestEffort' | 'Burstable' | 'Guaranteed'

/** Returns the QoS class from the status, or computes it from the spec if it is not set. */
export const qosClassOf = (pod: KubeObject, gates: Gates): string =>
  textOf(fieldsOf(pod['status'])['qosClass']) || computedClassOf(fieldsOf(pod['spec']), gates)

/**
 * Computes the QoS class from the spec. A Pod is Guaranteed if CPU and memory have limits in each
 * container and the requests are equal to the limits. A Pod is BestEffort if no container has
 * limits or requests. Pod-level resources take precedence over those of containers.
 */
export function computedClassOf(spec: Fields, gates: Gates): QosClass {
  const askers = saysItself(spec, gates)
    ? [spec]
    : ['initContainers', 'containers'].flatMap((list) => itemsOf(spec[list]))
  const amounts = askers.map(({ resources }) => {
    const { limits, requests } = fieldsOf(resources)
    return { limits: computeOf(limits), requests: computeOf(requests) }
  })
  if (amounts.every(({ limits, requests }) => limits.size === 0 && requests.size === 0))
    return 'BestEffort'
  const isGuaranteed = amounts.every(
    ({ limits, requests }) =>
      limits.size === 2 &&
      requests.size <= 2 &&
      [...requests].every(([name, amount]) => limits.get(name) === amount),
  )
  return isGuaranteed ? 'Guaranteed' : 'Burstable'
}

/**
 * Returns the quantities that determine the QoS class: those of CPU and memory, unless they are
 * zero.
 */
function computeOf(list: Json | undefined): ReadonlyMap<string, bigint> {
  return new Map(
    entriesOf(list)
      .filter(([name]) => name === 'cpu' || name === 'memory')
      .map(([name, amount]): [string, bigint] => [name, nanosOf(amount)])
      .filter(([, nanos]) => nanos > 0n),
  )
}
