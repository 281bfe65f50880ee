/** The usage of objects of one kind. */
import type { KubeObject } from '../../api/object.ts'
import type { Quantity } from '../../api/quantity.ts'
import type { ResourceList } from '../../api/resource-list.ts'
import type { Attributes } from '../admission.ts'
import type { Scope } from './scopes.ts'

export type Evaluator = {
  /** Whether this write can be charged. */
  readonly isCharged: (attributes: Attributes) => boolean
  readonly usageOf: (object: KubeObject) => ResourceList
  /** What each object uses, if that does not depend on the object. Such objects are in no scope. */
  readonly fixedUsage?: ResourceList
  /** Whether objects of this kind can use this resource. */
  readonly measures: (resourceName: string) => boolean
  /** Only objects in all scopes of a quota are charged to it. */
  readonly isInScope: (object: KubeObject, scope: Scope) => boolean
  /**
   * Why an object is refused by a quota that limits these resources: it does not specify their
   * amounts. Undefined if it does.
   */
  readonly missing: (object: KubeObject, resourceNames: readonly string[]) => string | undefined
}

export const count = (number: number): Quantity => ({
  nanos: BigInt(number) * 10n ** 9n,
  format: 'decimal',
})

/** The object itself is created or updated, not a subresource. */
export const isWritten = ({ operation, subresource }: Attributes): boolean =>
  (operation === 'CREATE' || operation === 'UPDATE') && subresource === ''
