/** The objects that every new cluster has, and the functions that create them at startup. */
import type { ResourceId } from '../api/object-access.ts'
import { createNow } from '../api/timestamps.ts'
import type { Config } from '../config/config.ts'
import type { ControlPlane } from './control-plane.ts'
import { publishInfo } from '../controllers/authentication-info.ts'
import { Bootstrap } from '../controllers/bootstrap.ts'
import { type Cluster, firstObjects, otherObjects } from '../controllers/bootstrap-objects.ts'
import { ensureRoles, type BootstrapRolesOptions } from '../controllers/bootstrap-roles.ts'
import { DefaultServiceRange } from '../controllers/default-service-range.ts'
import type { SystemTasksOptions } from '../controllers/system-tasks.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { rbacGroup } from '../access/rbac/role.ts'

/** Port of the Service kubernetes if a test lets the system choose the port of the server. */
const DEFAULT_PORT = 6443

type Plane = Pick<ControlPlane, 'handle' | 'registry' | 'allocation' | 'authorities'>

export type ClusterObjectsOptions = Pick<BootstrapRolesOptions, 'createAll'> & {
  /** Whether the objects already exist. If so, no object is checked or written at startup. */
  readonly isPrepared: boolean
  readonly clock: Clock
  readonly log: Log
}

export type ClusterObjects = Pick<SystemTasksOptions, 'checkServiceRange' | 'publishInfo'> & {
  readonly cluster: Cluster
  /**
   * Creates the objects that every new cluster has. Call this function only when requests can be
   * handled.
   */
  readonly bootstrap: Bootstrap
  /**
   * Publishes the CAs of clients and front proxies. Never rejects: if an attempt fails, a loop
   * retries it. The server is useful even if the CAs are not published yet.
   */
  readonly publishIfPossible: (signal: AbortSignal) => Promise<void>
}

export function createClusterObjects(
  config: Config,
  plane: Plane,
  { createAll, isPrepared, clock, log }: ClusterObjectsOptions,
): ClusterObjects {
  const { handle, registry, allocation } = plane
  const cluster = {
    registry,
    ranges: config.cluster.services.ranges,
    port: config.network.port || DEFAULT_PORT,
    nodePort: config.cluster.services.ownNodePort,
    now: createNow(clock.wallMs)(),
  }
  const serviceRange = new DefaultServiceRange({
    handle,
    isServed:
      config.cluster.services.addressesIn !== 'records' && hasResource(registry, serviceCidrs),
    ranges: config.cluster.services.ranges,
    now: createNow(clock.wallMs),
    log,
  })
  const hasRoles =
    config.authorization.authorizers.some(({ type }) => type === 'RBAC') &&
    hasResource(registry, roles)
  const publish = createPublish(config, plane, clock)
  const publishIfPossible = async (signal: AbortSignal): Promise<void> => {
    try {
      await publish(signal)
    } catch (error) {
      log('warn', 'could not publish the client CAs yet; retrying', { error: String(error) })
    }
  }
  const prepareRoles = async (signal: AbortSignal): Promise<void> => {
    if (hasRoles) await ensureRoles({ handle, gates: config.featureGates, createAll }, signal)
  }
  const prepareServices = async (signal: AbortSignal): Promise<void> => {
    await serviceRange.check(signal)
    await allocation.repair.prepare()
  }
  const prepare = async (signal: AbortSignal): Promise<void> => {
    // Wait until all steps have settled, so that a retry does not start a step that is still
    // running.
    const ends = await Promise.allSettled([
      prepareRoles(signal),
      prepareServices(signal),
      publishIfPossible(signal),
    ])
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }
  const wanted = isPrepared
    ? { first: [], prepare: async () => undefined, later: [] }
    : { first: firstObjects, prepare, later: otherObjects(cluster) }
  return {
    bootstrap: new Bootstrap({ handle, ...wanted, log }),
    cluster,
    checkServiceRange: serviceRange.check,
    publishInfo: publish,
    publishIfPossible,
  }
}

const serviceCidrs = { group: 'networking.k8s.io', version: 'v1', plural: 'servicecidrs' }
const roles = { group: rbacGroup, version: 'v1', plural: 'roles' }
const configMaps = { group: '', version: 'v1', plural: 'configmaps' }

const hasResource = (registry: Plane['registry'], id: ResourceId): boolean =>
  registry.find(id) !== undefined

/**
 * Returns a function that publishes the CAs of clients and front proxies. If ConfigMaps are not
 * served, the function does nothing.
 */
function createPublish(
  { authentication: { requestHeader } }: Config,
  { handle, registry, authorities }: Plane,
  clock: Clock,
): ClusterObjects['publishInfo'] {
  const hasConfigMaps = hasResource(registry, configMaps)
  return async (signal) => {
    if (!hasConfigMaps) return
    const { client: clientCaPem, requestHeader: caPem } = authorities.pems
    const proxies = requestHeader === null || caPem === null ? null : { ...requestHeader, caPem }
    await publishInfo(
      handle,
      { clientCaPem, requestHeader: proxies },
      { nowMs: clock.wallMs(), signal },
    )
  }
}
