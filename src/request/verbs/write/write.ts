/** A write in progress, as its steps receive it. steps.ts defines their order. */
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
   * How managedFields are determined. `stated` means that the change itself contains them, as in an
   * apply. `dropped` means that the object is stored without them, because it would be too large
   * with them.
   */
  readonly owners: 'recorded' | 'stated' | 'dropped'
  /**
   * Cluster IPs and node ports allocated by the write. Undefined if objects of the resource need
   * none.
   */
  readonly allocation: HeldAllocation | undefined
}

/**
 * Creates the object to write from the current object. Both are the object or subresource in the
 * path. Update, patch and apply differ only in this function.
 *
 * If `current` is undefined, the object does not exist and the result is created. `stored` is the
 * current object in its stored form. The function is called again if another writer was first, and
 * can fail with any ApiError.
 */
export type Change = (
  current: KubeObject | undefined,
  stored: KubeObject | undefined,
) => MaybePromise<KubeObject>

export type UpdateOutcome = WrittenObject & { readonly isNew: boolean }

/**
 * Whether an update creates the object if it does not exist. As in kube-apiserver, this also
 * applies to an update of /status, if the kind has that subresource.
 */
export const mayCreateAt = ({ resource, subresource }: ResourceRequest): boolean =>
  resource.rules.createsOnUpdate && (subresource === '' || subresource === 'status')
