/** Measures how much objects of one kind use of the resources that quotas limit. */
import type { KubeObject } from '../../api/object.ts'
import type { Quantity } from '../../api/quantity.ts'
import type { ResourceList } from '../../api/resource-list.ts'
import type { Attributes } from '../admission.ts'
import type { Scope } from './scopes.ts'

export type Evaluator = {
  /** Whether this write can be charged. */
  readonly isCharged: (attributes: Attributes) => boolean
  readonly usageOf: (object: KubeObject) => ResourceList
  /** Usage of each object, if it does not depend on the object. Such objects are in no scope. */
  readonly fixedUsage?: ResourceList
  /** Whether objects of this kind can use this resource. */
  readonly measures: (resourceName: string) => boolean
  /** Whether an object is in a scope. A quota applies only to objects in all of its scopes. */
  readonly isInScope: (object: KubeObject, scope: Scope) => boolean
  /**
   * Returns why a quota that limits these resources rejects the object: it does not specify their
   * amounts. Undefined if it does.
   */
  readonly missing: (object: KubeObject, resourceNames: readonly string[]) => string | undefined
}

export const count = (number: number): Quantity => ({
  nanos: BigInt(number) * 10n ** 9n,
  format: 'decimal',
})

/** Returns whether the object itself is created or updated, not a subresource. */
export const isWritten = ({ operation, subresource }: Attributes): boolean =>
  (operation === 'CREATE' || operation === 'UPDATE') && subresource === ''
