/**
 * Finds the evaluator of a kind. Kinds for which quotas can limit more than the number of objects
 * have their own files.
 */
import { isEvents } from '../../api/events.ts'
import type { Gates } from '../../api/gates.ts'
import type { ResourceList } from '../../api/resource-list.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'
import { createClaimEvaluator } from './claims.ts'
import { deviceEvaluator } from './devices.ts'
import { count, type Evaluator, noneMissing } from './evaluator.ts'
import { createPodEvaluator } from './pods.ts'
import { serviceEvaluator } from './services.ts'

type WallClock = Pick<Clock, 'wallMs'>

export class Evaluators {
  readonly #gates: Gates
  readonly #clock: WallClock
  /** Evaluators by resource. An evaluator depends only on the resource. */
  readonly #known = new WeakMap<Resource, Evaluator | 'uncounted'>()

  constructor(gates: Gates, clock: WallClock) {
    this.#gates = gates
    this.#clock = clock
  }

  /** Returns the evaluator, or undefined if objects of this kind are not counted. */
  of({ resource }: Pick<Attributes, 'resource'>): Evaluator | undefined {
    const found =
      this.#known.get(resource) ??
      createEvaluator(resource, this.#gates, this.#clock) ??
      'uncounted'
    this.#known.set(resource, found)
    return found === 'uncounted' ? undefined : found
  }
}

function createEvaluator(
  { group, plural }: Resource,
  gates: Gates,
  clock: WallClock,
): Evaluator | undefined {
  if (isEvents({ group, plural })) return undefined
  switch (group === '' ? plural : `${plural}.${group}`) {
    // Objects of these kinds are not stored, so they are not counted.
    case 'bindings':
    case 'localsubjectaccessreviews.authorization.k8s.io':
      return undefined
    case 'pods':
      return createPodEvaluator(gates, clock)
    case 'services':
      return serviceEvaluator
    case 'persistentvolumeclaims':
      return createClaimEvaluator(gates)
    case 'resourceclaims.resource.k8s.io':
      if (gates.isOn('DynamicResourceAllocation')) return deviceEvaluator
      break
  }
  return group === ''
    ? countEvaluator(`count/${plural}`, plural)
    : countEvaluator(`count/${plural}.${group}`)
}

/**
 * Counts the number of objects. Quotas cannot limit anything else for most kinds. Some kinds of the
 * core group are also counted under their old names.
 */
function countEvaluator(...names: readonly string[]): Evaluator {
  const fixedUsage: ResourceList = new Map(names.map((name) => [name, count(1)]))
  return {
    isCharged: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    usageOf: () => fixedUsage,
    fixedUsage,
    measures: (name) => names.includes(name),
    isInScope: () => false,
    missing: () => noneMissing,
  }
}
