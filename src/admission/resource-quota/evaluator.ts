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
  /** Whether this write can add usage. */
  readonly isCharged: (attributes: Attributes) => boolean
  readonly usageOf: (object: KubeObject) => ResourceList
  /**
   * Usage of an object, if it is the same for all objects of the kind. Such objects do not belong
   * to any scope.
   */
  readonly fixedUsage?: ResourceList
  /** Whether objects of this kind can use the resource. */
  readonly measures: (resourceName: string) => boolean
  /**
   * Whether an object belongs to a scope. A quota applies only to objects that belong to all of its
   * scopes.
   */
  readonly isInScope: (object: KubeObject, scope: Scope) => boolean
  /**
   * Returns the resources whose amounts the object must specify if a quota limits them, but does
   * not. The value lists the containers that do not specify the amount.
   */
  readonly missing: (object: KubeObject) => ReadonlyMap<string, string>
}

/** The result of `missing` for objects that need not specify any amounts. */
export const noneMissing: ReadonlyMap<string, string> = new Map()

/**
 * Returns an evaluator that contains the results for large objects. Each quota of a namespace needs
 * them several times, and computing them here can be divided.
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
