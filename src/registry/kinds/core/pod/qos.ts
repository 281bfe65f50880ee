/** Computes the QoS class of a Pod from its requests and limits. The class affects eviction. */
import type { Gates } from '../../../../api/gates.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
} from '../../../../api/object.ts'
import { nanosOf } from '../../../../api/quantity.ts'
import { eachItem } from '../../../../lib/scheduling/parts.ts'
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
  const { isBestEffort, isGuaranteed } = eachItem(
    'amounts of a QoS class',
    askers,
    () => ({ isBestEffort: true, isGuaranteed: true }),
    (found, { resources }) => {
      const { limits, requests } = fieldsOf(resources)
      const [most, least] = [computeOf(limits), computeOf(requests)]
      if (most.size > 0 || least.size > 0) found.isBestEffort = false
      found.isGuaranteed &&=
        most.size === 2 && [...least].every(([name, amount]) => most.get(name) === amount)
      return found.isBestEffort || found.isGuaranteed
    },
  )
  return isBestEffort ? 'BestEffort' : isGuaranteed ? 'Guaranteed' : 'Burstable'
}

const computeNames = ['cpu', 'memory'] as const

/**
 * Returns the quantities that determine the QoS class: those of CPU and memory, unless they are
 * zero.
 */
function computeOf(list: Json | undefined): ReadonlyMap<string, bigint> {
  const amounts = fieldsOf(list)
  const found = new Map<string, bigint>()
  for (const name of computeNames) {
    const amount = amounts[name]
    const nanos = amount === undefined ? 0n : nanosOf(textOf(amount))
    if (nanos > 0n) found.set(name, nanos)
  }
  return found
}
