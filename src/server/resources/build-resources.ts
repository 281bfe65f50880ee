/**
 * Builds the resources of a control plane: read and write access to their objects, and custom
 * resources.
 */
import { isOfRoles } from '../../access/rbac/role.ts'
import type { CrdController } from '../../controllers/crds.ts'
import type { Resource } from '../../registry/resource.ts'
import type { ServiceAllocators } from '../../request/allocators/create-allocators.ts'
import { ResourceAccess } from '../../request/resource-access.ts'
import { customResourceOf } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import type { AccessControl } from '../access/build-access.ts'
import type { AdmissionSubsystem } from '../admission/build-admission.ts'
import type { PlaneCore } from '../plane-core.ts'
import { createAllocation } from './allocation.ts'
import { createCrds } from './crds.ts'
import { createStoreOf, createStoreRoles, type StoreRoles } from './informed-writes.ts'
import {
  createAuthorizeConnect,
  createAuthorizeCreate,
  createAuthorizeUnsafeDelete,
  createConfirmGrant,
} from './write-permissions.ts'

export type Resources = {
  readonly access: ResourceAccess
  readonly allocation: ServiceAllocators
  readonly storeRoles: StoreRoles
}

export function buildResources(
  core: PlaneCore,
  { authorize, roles }: AccessControl,
  { admission, policies, webhooks }: AdmissionSubsystem,
): Resources {
  const { config, environment, storage, registry, accessOf, metrics } = core
  const { clock, ids, random } = environment
  const { cache, store, overrideOf } = storage
  const storeOf = (resource: Resource): Store => overrideOf(resource)?.store ?? store
  const allocation = createAllocation(config, {
    cache,
    store,
    registry,
    accessOf,
    handle: core.handle,
    metrics: metrics.allocators,
    environment,
  })
  const access = new ResourceAccess({
    config,
    registry,
    storage: {
      cache,
      cacheOf: (resource) => overrideOf(resource)?.cache ?? cache,
      storeOf: createStoreOf(storeOf, { roles, policies: policies.informers, webhooks }),
    },
    metrics: metrics.requests,
    admission,
    permissions: {
      authorizeCreate: createAuthorizeCreate(authorize),
      authorizeConnect: createAuthorizeConnect(authorize),
      authorizeUnsafeDelete: config.featureGates.isOn('AllowUnsafeMalformedObjectDeletion')
        ? createAuthorizeUnsafeDelete(authorize)
        : undefined,
      confirmGrantOf: (resource) =>
        isOfRoles(resource) ? createConfirmGrant(roles, resource.plural, authorize) : undefined,
    },
    effects: {
      onUpdatedOf: ({ group, plural }) =>
        group === 'certificates.k8s.io' && plural === 'certificatesigningrequests'
          ? (request, previous) => metrics.issuance.count(request, previous)
          : undefined,
      allocator: allocation.allocator,
    },
    yaml: core.yaml,
    patterns: core.patterns,
    calls: core.calls,
    clock,
    ids,
    random,
  })
  const storeRoles = createStoreRoles({ registry, accessOf, storeOf, roles })
  return { access, allocation, storeRoles }
}

/**
 * Creates the controller of CustomResourceDefinitions. Returns undefined if they are not served.
 */
export function buildCrds(
  { environment, storage, registry, accessOf, handle, metrics }: PlaneCore,
  access: ResourceAccess,
): CrdController | undefined {
  storage.requestCounts.measureOnly((path) => {
    const custom = customResourceOf(path)
    if (custom === undefined) return true
    return registry.inGroup(custom.group).some(({ plural }) => plural === custom.plural)
  })
  return createCrds({
    registry,
    accessOf,
    storedAccessOf: (resource) => access.ofStored(resource),
    keysOf: (resource) => access.keysOf(resource),
    retire: (resource) => access.retire(resource),
    uncount: (resource) => {
      metrics.requests.forget(resource)
      const kept = registry.inGroup(resource.group).map((other) => access.keysOf(other).prefix)
      storage.requestCounts.forget(access.keysOf(resource).prefix, kept)
    },
    handle,
    life: () => storage.cache.databaseLife,
    log: environment.log,
  })
}
