/**
 * Creates the allocators of addresses and node ports for Services, and connects them to the objects
 * that they read.
 */
import type { Handler } from '../../api/request.ts'
import {
  createAllocators,
  type ResourceObjects,
  type ServiceAllocators,
} from '../../request/allocators/create-allocators.ts'
import type { AllocatorMetrics } from '../../request/allocators/metrics.ts'
import type { Cache } from '../../storage/cache/cache.ts'
import type { Config } from '../../config/config.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Registry } from '../../registry/registry.ts'
import type { AccessOf } from '../../request/resource-access.ts'
import { rootOf } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'

export type AllocationOptions = {
  readonly cache: Cache
  readonly store: Store
  readonly registry: Registry
  readonly accessOf: AccessOf
  readonly handle: Handler
  readonly metrics: AllocatorMetrics
  readonly environment: { readonly clock: Clock; readonly log: Log; readonly random: () => number }
}

export function createAllocation(
  { release, storage, cluster: { services } }: Config,
  {
    cache,
    store,
    registry,
    accessOf,
    handle,
    metrics,
    environment: { clock, log, random },
  }: AllocationOptions,
): ServiceAllocators {
  const objectsOf = (group: string, plural: string): ResourceObjects => {
    const resource = registry.find({ group, version: 'v1', plural })
    if (resource === undefined)
      return { get: async () => undefined, has: async () => false, list: async () => [] }
    return {
      get: async (name, at) => {
        const { keys, reader } = accessOf(resource)
        return (await reader.get(keys.key('', name), at)).item?.object()
      },
      has: async (name) => {
        const { keys, reader } = accessOf(resource)
        return (await reader.get(keys.key('', name), 'any')).item !== undefined
      },
      list: async (at) => {
        const { keys, reader } = accessOf(resource)
        return (await reader.list(keys.range(), at)).items.map((item) => item.object())
      },
    }
  }
  return createAllocators({
    release,
    handle,
    store,
    root: rootOf(storage.prefix),
    addresses: objectsOf('networking.k8s.io', 'ipaddresses'),
    ranges: objectsOf('networking.k8s.io', 'servicecidrs'),
    services: objectsOf('', 'services'),
    cidrs: services.ranges,
    addressesIn: services.addressesIn,
    nodePorts: services.nodePorts,
    metrics,
    random,
    life: () => cache.databaseLife,
    wallMs: clock.wallMs,
    log,
  })
}
