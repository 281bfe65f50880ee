/**
 * The interface of evaluators. An evaluator measures how much the objects of one kind use of the
 * resources that quotas limit.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Quantity } from '../../api/quantity.ts'
import type { ResourceList } from '../../api/resource-list.ts'
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
   * Returns an error message if the object does not specify the amounts of these resources, which a
   * quota limits. Otherwise returns undefined.
   */
  readonly missing: (object: KubeObject, resourceNames: readonly string[]) => string | undefined
}

export const count = (number: number): Quantity => ({
  nanos: BigInt(number) * 10n ** 9n,
  format: 'decimal',
})

/** Returns whether the object itself is created or updated, and not a subresource. */
export const isWritten = ({ operation, subresource }: Attributes): boolean =>
  (operation === 'CREATE' || operation === 'UPDATE') && subresource === ''
