/**
 * Writes of roles, policies and webhook configurations, which the server itself watches. The
 * response to such a write is sent only after the change is in force.
 */
import { admissionGroup } from '../../admission/admission.ts'
import type { PoliciesInformer } from '../../admission/policies/policies-informer.ts'
import {
  configurationResources,
  type WebhooksInformer,
} from '../../admission/webhooks/webhooks-informer.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import type { RolesInformer } from '../../access/rbac/roles-informer.ts'
import type { PolicyObject } from '../../access/rbac/read-policy.ts'
import { isOfRoles, rbacGroup } from '../../access/rbac/role.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Resource } from '../../registry/resource.ts'
import type { AccessOf } from '../../request/resource-access.ts'
import type { ObjectStore, Store } from '../../storage/store.ts'
import { ownManager } from '../../request/verbs/system-objects.ts'
import { storeOwn } from '../../request/verbs/store-own.ts'

type WriteInformers = {
  readonly roles: RolesInformer
  readonly policies: readonly Pick<PoliciesInformer<never>, 'informedStore'>[]
  readonly webhooks: WebhooksInformer
}

/**
 * Returns the store of a resource. If the objects of the resource affect other requests, a write
 * resolves only after its change is in force.
 */
export function createStoreOf(
  storeOf: (resource: Resource) => Store,
  { roles, policies, webhooks }: WriteInformers,
): (resource: Resource) => ObjectStore {
  return (resource) => {
    const store = storeOf(resource)
    if (isOfRoles(resource)) return roles.informedStore(resource.plural, store)
    if (resource.group !== admissionGroup) return store
    for (const informer of policies) {
      const own = informer.informedStore(resource.plural, store)
      if (own !== undefined) return own
    }
    const configuration = configurationResources.find((plural) => plural === resource.plural)
    return configuration === undefined ? store : webhooks.informedStore(configuration, store)
  }
}

/**
 * Creates default roles and bindings directly in the store. Returns those that already existed.
 * Used only if they probably do not exist yet. If a write fails, throws a StorageError.
 */
export type StoreRoles = (
  wanted: readonly PolicyObject[],
  signal: AbortSignal,
) => Promise<PolicyObject[]>

type StoreRolesOptions = {
  readonly registry: Registry
  readonly accessOf: AccessOf
  readonly storeOf: (resource: Resource) => Store
  readonly roles: RolesInformer
}

export function createStoreRoles({
  registry,
  accessOf,
  storeOf,
  roles,
}: StoreRolesOptions): StoreRoles {
  return async (all, signal) => {
    const storeOne = async (wanted: PolicyObject): Promise<PolicyObject[]> => {
      const resource = registry.find({ group: rbacGroup, version: 'v1', plural: wanted.resource })
      if (resource === undefined) return [wanted]
      const write = {
        resource,
        access: accessOf(resource),
        store: storeOf(resource),
        manager: ownManager,
        signal,
      }
      return (await storeOwn(write, wanted.object)) ? [] : [wanted]
    }
    // Store the objects in slices, between which the event loop runs other work. Storing all of
    // them at once would delay clients that connect at startup.
    const slices = new Slices()
    const storing: Promise<PolicyObject[]>[] = []
    for (const wanted of all) {
      const stored = storeOne(wanted)
      // Prevent an unhandled rejection here. The `Promise.all` below reports failures.
      stored.catch(() => undefined)
      storing.push(stored)
      if (slices.isOver) await slices.turn()
    }
    const existing = (await Promise.all(storing)).flat()
    await roles.latest(signal)
    return existing
  }
}
