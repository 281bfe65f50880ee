/**
 * The interface of evaluators. An evaluator measures how much the objects of one kind use of the
 * resources that quotas limit.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Quantity } from '../../api/quantity.ts'
import type { ResourceList } from '../../api/resource-list.ts'
import { mapEach } from '../../lib/scheduling/parts.ts'
import type { Attributes } from '../admission.ts'
import type { Scope } from './scopes.ts'

export type Evaluator = {
  /** Returns whether a write can increase the usage of quotas. */
  readonly isCharged: (attributes: Attributes) => boolean
  readonly usageOf: (object: KubeObject) => ResourceList
  /**
   * The usage of an object, for kinds whose objects all have the same usage and belong to no quota
   * scope. Otherwise undefined.
   */
  readonly fixedUsage?: ResourceList
  /** Returns whether objects of this kind can use a resource that quotas limit. */
  readonly measures: (resourceName: string) => boolean
  /**
   * Returns whether an object belongs to a scope. A quota applies only to objects that belong to
   * all scopes of the quota.
   */
  readonly isInScope: (object: KubeObject, scope: Scope) => boolean
  /**
   * Returns the resources for which the object does not specify an amount, although it must if a
   * quota limits them. Each value lists the containers that specify no amount.
   */
  readonly missing: (object: KubeObject) => ReadonlyMap<string, string>
}

/** The result of `missing` for objects that need not specify any amounts. */
export const noneMissing: ReadonlyMap<string, string> = new Map()

/**
 * Returns an evaluator that has already measured these objects. Each quota of a namespace needs the
 * measurements several times. Here, large objects can be measured in parts, so that other work can
 * run in between.
 */
export function measured(evaluator: Evaluator, objects: readonly KubeObject[]): Evaluator {
  const known = new Map(
    mapEach('measured objects', objects, (object) => [
      object,
      { usage: evaluator.usageOf(object), missing: evaluator.missing(object) },
    ]),
  )
  return {
    ...evaluator,
    usageOf: (object) => known.get(object)?.usage ?? evaluator.usageOf(object),
    missing: (object) => known.get(object)?.missing ?? evaluator.missing(object),
  }
}

export const count = (number: number): Quantity => ({
  nanos: BigInt(number) * 10n ** 9n,
  format: 'decimal',
})

/** Returns whether the object itself is created or updated, and not a subresource. */
export const isWritten = ({ operation, subresource }: Attributes): boolean =>
  (operation === 'CREATE' || operation === 'UPDATE') && subresource === ''
