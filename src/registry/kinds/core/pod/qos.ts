/** The QoS class of a Pod, which affects its eviction. It is derived from requests and limits. */
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

/** Returns the class in the status, or else the class that follows from the spec. */
export const qosClassOf = (pod: KubeObject, gates: Gates): string =>
  textOf(fieldsOf(pod['status'])['qosClass']) || computedClassOf(fieldsOf(pod['spec']), gates)

/**
 * Derives the class from the spec. Guaranteed means that the limits of each container equal its
 * requests, for both CPU and memory. BestEffort means that no container has limits or requests.
 * Pod-level resources take precedence over those of containers.
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

/** Returns the amounts that count: CPU and memory, if they are not zero. */
function computeOf(list: Json | undefined): ReadonlyMap<string, bigint> {
  return new Map(
    entriesOf(list)
      .filter(([name]) => name === 'cpu' || name === 'memory')
      .map(([name, amount]): [string, bigint] => [name, nanosOf(amount)])
      .filter(([, nanos]) => nanos > 0n),
  )
}
