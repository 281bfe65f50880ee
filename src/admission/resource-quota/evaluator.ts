/** What objects of a kind cost. */
import type { KubeObject } from '../../api/object.ts'
import type { Quantity } from '../../api/quantity.ts'
import type { ResourceList } from '../../api/resource-list.ts'
import type { Attributes } from '../admission.ts'
import type { Scope } from './scopes.ts'

export type Evaluator = {
  /** Whether this write can cost anything. */
  readonly isCharged: (attributes: Attributes) => boolean
  readonly usageOf: (object: KubeObject) => ResourceList
  /** Whether objects of this kind can cost any of this. */
  readonly measures: (resourceName: string) => boolean
  /** Only objects in all scopes of a quota count. */
  readonly isInScope: (object: KubeObject, scope: Scope) => boolean
  /** What a quota that limits these amounts asks an object to say, if it does not. */
  readonly missing: (object: KubeObject, resourceNames: readonly string[]) => string | undefined
}

export const count = (number: number): Quantity => ({ nanos: BigInt(number) * 10n ** 9n, format: 'decimal' })

/** The object itself is made, or changed. */
export const isWritten = ({ operation, subresource }: Attributes): boolean =>
  (operation === 'CREATE' || operation === 'UPDATE') && subresource === ''
