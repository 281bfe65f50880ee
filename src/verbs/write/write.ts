/** A write under way, as its steps see it (steps.ts has their order). */
import type { KubeObject } from '../../api/object.ts'
import type { ResourceRequest } from '../../registry/resource.ts'
import type { WriteAccess } from '../access.ts'
import type { Written } from '../represent/representation.ts'
import type { WriteOptions } from '../write-options.ts'
import type { HeldAllocation } from './allocate.ts'

export type Write = {
  readonly request: ResourceRequest
  readonly options: WriteOptions
  readonly access: WriteAccess
  /** `stated`: the change itself says who owns what, as that of an apply does. `dropped`: there is no room for them. */
  readonly owners: 'recorded' | 'stated' | 'dropped'
  /** Undefined where objects of the resource need none. */
  readonly allocation: HeldAllocation | undefined
}

/**
 * What update, patch and apply differ in: how they make the object to write from the one that is there, both in the shape of the
 * path (undefined: none is there; what is returned then is created). `stored` is the latter as it is stored. Runs again when somebody
 * else was first, and may fail with any ApiError.
 */
export type Change = (
  current: KubeObject | undefined,
  stored: KubeObject | undefined,
) => KubeObject | Promise<KubeObject>

export type Updated = Written & { readonly isNew: boolean }

/** Whether an update of what is not there creates it. Upstream does so through /status, too, where the kind has one. */
export const mayCreateAt = ({ resource, subresource }: ResourceRequest): boolean =>
  resource.createsOnUpdate && (subresource === '' || subresource === 'status')
