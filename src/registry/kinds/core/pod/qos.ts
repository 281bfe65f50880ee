/** How a Pod fares when its node runs out: decided by what it asks for. */
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

/** What its status says, or what follows from its specification. */
export const qosClassOf = (pod: KubeObject, gates: Gates): string =>
  textOf(fieldsOf(pod['status'])['qosClass']) || computedClassOf(fieldsOf(pod['spec']), gates)

/**
 * Guaranteed: each container is limited to what it asks for, in both amounts. BestEffort: none asks for anything. Where the Pod itself says
 * what it asks for, that counts alone.
 */
export function computedClassOf(spec: Fields, gates: Gates): QosClass {
  const askers = saysItself(spec, gates)
    ? [spec]
    : ['initContainers', 'containers'].flatMap((list) => itemsOf(spec[list]))
  const amounts = askers.map(({ resources }) => {
    const { limits, requests } = fieldsOf(resources)
    return { limits: computeOf(limits), requests: computeOf(requests) }
  })
  if (amounts.every(({ limits, requests }) => limits.size === 0 && requests.size === 0)) return 'BestEffort'
  const isGuaranteed = amounts.every(
    ({ limits, requests }) =>
      limits.size === 2 && requests.size <= 2 && [...requests].every(([name, amount]) => limits.get(name) === amount),
  )
  return isGuaranteed ? 'Guaranteed' : 'Burstable'
}

/** Only these two count, and zero does not. */
function computeOf(list: Json | undefined): ReadonlyMap<string, bigint> {
  return new Map(
    entriesOf(list)
      .filter(([name]) => name === 'cpu' || name === 'memory')
      .map(([name, amount]): [string, bigint] => [name, nanosOf(amount)])
      .filter(([, nanos]) => nanos > 0n),
  )
}
