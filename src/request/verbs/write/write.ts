/** A write in progress, as its steps see it (steps.ts has their order). */
import type { KubeObject } from '../../../api/object.ts'
import type { MaybePromise } from '../../../lib/concurrency/maybe-promise.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import type { WriteAccess } from '../access.ts'
import type { WrittenObject } from '../represent/representation.ts'
import type { WriteOptions } from '../write-options.ts'
import type { HeldAllocation } from './allocate.ts'

export type Write = {
  readonly request: ResourceRequest
  readonly options: WriteOptions
  readonly access: WriteAccess
  /**
   * `stated`: the change itself has the managedFields, as in an apply. `dropped`: the object would
   * be too large with them.
   */
  readonly owners: 'recorded' | 'stated' | 'dropped'
  /** Undefined if objects of the resource need no allocations. */
  readonly allocation: HeldAllocation | undefined
}

/**
 * The difference between update, patch and apply: how the object to write is made from the current
 * one, both in the shape of the path. If `current` is undefined there is no object, and the result
 * is created. `stored` is the current object as it is stored. Runs again when another writer was
 * first, and may fail with any ApiError.
 */
export type Change = (
  current: KubeObject | undefined,
  stored: KubeObject | undefined,
) => MaybePromise<KubeObject>

export type UpdateOutcome = WrittenObject & { readonly isNew: boolean }

/**
 * Whether an update of an object that does not exist creates it. Upstream does so through /status,
 * too, if the kind has that.
 */
export const mayCreateAt = ({ resource, subresource }: ResourceRequest): boolean =>
  resource.rules.createsOnUpdate && (subresource === '' || subresource === 'status')
