/** The background tasks of a running server. */
import { microTime } from '../api/timestamps.ts'
import { hostname, networkInterfaces } from 'node:os'
import { parseIp } from '../api/ip.ts'
import type { Handler } from '../api/request.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { systemTimers, type Timers } from '../lib/time/timers.ts'
import { INFO_CHECK_MS } from './authentication-info.ts'
import { RANGE_CHECK_MS } from './default-service-range.ts'
import { followFlowSchemas } from './flow-schemas.ts'
import { COLLECT_MS, collectExpired, RENEW_MS, renewIdentity } from './identity-lease.ts'
import {
  isReachable,
  KubernetesEndpoints,
  type KubernetesEndpointsOptions,
} from './kubernetes-endpoints.ts'
import { KEEP_FLOWS_MS, keepFlowControl } from './kept-flow-control.ts'
import { KEEP_MS, keepObjects } from './kept-objects.ts'
import { createTrackingCheck, TRACKING_CHECK_MS } from './legacy-token-tracking.ts'
import { Loop } from '../lib/concurrency/loop.ts'
import { followServiceAddresses, type ServiceAddressesOptions } from './service-addresses.ts'
import type { RequiredObject } from './wanted.ts'

/** Interval of the repair tasks, as in kube-apiserver. */
const REPAIR_MS = 3 * 60 * 1000

export type SystemTasksOptions = {
  readonly handle: Handler
  /**
   * Whether this server maintains a Lease that shows that it is running (gate APIServerIdentity).
   */
  readonly hasIdentity: boolean
  /** Repairs the addresses and node ports of all Services once. */
  readonly repairServices: () => Promise<void>
  /**
   * Options for allocating the addresses of Services. Undefined if IPAddress objects are not used,
   * because the MultiCIDRServiceAllocator gate is disabled.
   */
  readonly serviceAddresses: ServiceAddressesOptions['addresses'] | undefined
  readonly keptObjects: readonly RequiredObject[]
  /** The built-in FlowSchemas and PriorityLevelConfigurations. Empty if their API is not served. */
  readonly keptFlows: readonly RequiredObject[]
  /** Checks the default ServiceCIDR once. */
  readonly checkServiceRange: (signal: AbortSignal) => Promise<void>
  /**
   * Publishes how clients are authenticated, in the ConfigMap extension-apiserver-authentication.
   */
  readonly publishInfo: (signal: AbortSignal) => Promise<void>
  /** The endpoints of the Service `kubernetes`. */
  readonly endpoints: Pick<KubernetesEndpointsOptions, 'records' | 'port'> & {
    readonly areKept: boolean
    /** The advertised address, which can be unspecified (0.0.0.0 or ::). */
    readonly address: string
  }
  readonly uid: string
  readonly clock: Clock
  /** Timers that use the time of `clock`. The default is the system timers. */
  readonly timers?: Timers | undefined
  readonly log: Log
}

/**
 * Returns functions that start the tasks. Call the functions only when the system namespaces exist.
 */
export function systemTaskStarts(options: SystemTasksOptions): (() => AsyncDisposable)[] {
  const { handle, repairServices, serviceAddresses, endpoints, clock, timers, log } = options
  const starts: (() => AsyncDisposable)[] = [
    ...(options.hasIdentity ? identityStarts(options) : []),
    () =>
      followFlowSchemas({
        handle,
        now: () => secondTime(clock.wallMs()),
        time: { ...systemTimers, ...timers, ...clock },
        log,
      }),
    ...(serviceAddresses === undefined
      ? []
      : [() => followServiceAddresses({ handle, addresses: serviceAddresses, log })]),
    () =>
      new Loop({
        name: 'the repair of Service addresses and node ports',
        intervalMs: REPAIR_MS,
        run: repairServices,
        log,
      }),
    () =>
      new Loop({
        name: 'the check of built-in objects',
        intervalMs: KEEP_MS,
        // Skip the first check, because `Bootstrap` has just created these objects.
        isDoneAtStart: true,
        run: (signal) => keepObjects(handle, options.keptObjects, signal),
        log,
      }),
    () =>
      new Loop({
        name: 'the check of flow schemas and priority levels',
        intervalMs: KEEP_FLOWS_MS,
        run: (signal) => keepFlowControl(handle, options.keptFlows, signal),
        log,
      }),
    () =>
      new Loop({
        name: 'the check of the tracking date of legacy tokens',
        intervalMs: TRACKING_CHECK_MS,
        isDoneAtStart: true,
        run: createTrackingCheck(handle, clock.wallMs),
        log,
      }),
    () =>
      new Loop({
        name: 'the check of the default ServiceCIDR',
        intervalMs: RANGE_CHECK_MS,
        run: options.checkServiceRange,
        log,
      }),
    () =>
      new Loop({
        name: 'the check of extension-apiserver-authentication',
        intervalMs: INFO_CHECK_MS,
        isDoneAtStart: true,
        run: options.publishInfo,
        log,
      }),
  ]
  const { records, port } = endpoints
  const address = publicAddress(endpoints.address)
  if (!endpoints.areKept || address === undefined) return starts
  return [...starts, () => new KubernetesEndpoints({ handle, records, address, port, log })]
}

/** Renews the Lease of this server and deletes the Leases of servers that no longer run. */
function identityStarts({
  handle,
  uid,
  clock,
  timers,
  log,
}: SystemTasksOptions): (() => AsyncDisposable)[] {
  const identity = { hostname: hostname(), uid }
  const renew = (signal: AbortSignal): Promise<void> =>
    renewIdentity(handle, identity, { now: microTime(clock.wallMs()), signal })
  return [
    () =>
      new Loop({
        name: 'the renewal of the identity Lease of this server',
        intervalMs: RENEW_MS,
        run: renew,
        timers,
        log,
      }),
    () =>
      new Loop({
        name: 'the deletion of identity Leases of stopped servers',
        intervalMs: COLLECT_MS,
        run: (signal) => collectExpired(handle, { nowMs: clock.wallMs(), signal }),
        timers,
        log,
      }),
  ]
}

const secondTime = (wallMs: number): string =>
  new Date(wallMs).toISOString().replace(/\.\d{3}Z$/, 'Z')

/**
 * Returns an address at which clients can reach this server, or undefined if there is no such
 * address.
 */
function publicAddress(advertised: string): string | undefined {
  if (isReachable(advertised)) return advertised
  const ip = parseIp(advertised)
  if (ip === undefined || ip.value !== 0n) return undefined
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.find(
    ({ address, family, internal }) => family === ip.family && !internal && isReachable(address),
  )?.address
}
