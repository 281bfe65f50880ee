/** What a server does by itself while it is up, besides answering. */
import { hostname, networkInterfaces } from 'node:os'
import { parseIp } from '../api/ip.ts'
import type { HandleAs } from '../api/own-request.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { RANGE_CHECK_MS } from './default-service-range.ts'
import { followFlowSchemas } from './flow-schemas.ts'
import { COLLECT_MS, collectExpired, RENEW_MS, renewIdentity } from './identity-lease.ts'
import { isReachable, KubernetesEndpoints, type KubernetesEndpointsParts } from './kubernetes-endpoints.ts'
import { KEEP_MS, keepObjects } from './kept-objects.ts'
import { Loop } from './loop.ts'
import { followServiceAddresses, type ServiceAddressesParts } from './service-addresses.ts'
import type { Wanted } from './wanted.ts'

/** Upstream's. */
const REPAIR_MS = 3 * 60 * 1000

export type OwnLoopsParts = {
  readonly handle: HandleAs
  /** One pass over the addresses and node ports of all Services. */
  readonly repairServices: () => Promise<void>
  /** Undefined: they are no objects. */
  readonly serviceAddresses: ServiceAddressesParts['addresses'] | undefined
  readonly keptObjects: readonly Wanted[]
  /** Sees to the ServiceCIDR of the cluster itself. */
  readonly checkServiceRange: (signal: AbortSignal) => Promise<void>
  readonly records: KubernetesEndpointsParts['records']
  readonly keepsEndpoints: boolean
  /** What the endpoints of the service kubernetes name; it may stand for all addresses of the host. */
  readonly endpointAddress: string
  readonly port: number
  readonly uid: string
  readonly clock: Clock
  readonly log: Log
}

/** To be called when the system's namespaces are there. */
export function startOwnLoops(parts: OwnLoopsParts): AsyncDisposable[] {
  const { handle, records, repairServices, serviceAddresses, port, uid, clock, log } = parts
  const identity = { hostname: hostname(), uid }
  const renew = (signal: AbortSignal): Promise<void> =>
    renewIdentity(handle, identity, { now: microTime(clock.wallMs()), signal })
  const loops: AsyncDisposable[] = [
    new Loop({ name: 'renewing the lease of this server', intervalMs: RENEW_MS, run: renew, log }),
    new Loop({
      name: 'the collection of leases of servers that are gone',
      intervalMs: COLLECT_MS,
      run: (signal) => collectExpired(handle, { nowMs: clock.wallMs(), signal }),
      log,
    }),
    followFlowSchemas({ handle, now: () => secondTime(clock.wallMs()), log }),
    ...(serviceAddresses === undefined ? [] : [followServiceAddresses({ handle, addresses: serviceAddresses, log })]),
    new Loop({ name: 'the repair of addresses and node ports', intervalMs: REPAIR_MS, run: repairServices, log }),
    new Loop({
      name: 'the check of the objects of the cluster itself',
      intervalMs: KEEP_MS,
      // They are being written right now.
      isDoneAtStart: true,
      run: (signal) => keepObjects(handle, parts.keptObjects, signal),
      log,
    }),
    new Loop({
      name: 'the check of the range of service addresses',
      intervalMs: RANGE_CHECK_MS,
      run: parts.checkServiceRange,
      log,
    }),
  ]
  const address = publicAddress(parts.endpointAddress)
  if (!parts.keepsEndpoints || address === undefined) return loops
  return [...loops, new KubernetesEndpoints({ handle, records, address, port, log })]
}

const secondTime = (wallMs: number): string => new Date(wallMs).toISOString().replace(/\.\d{3}Z$/, 'Z')
const microTime = (wallMs: number): string => new Date(wallMs).toISOString().replace(/(\.\d{3})Z$/, '$1000Z')

/** Undefined: nobody else can reach this server. */
function publicAddress(advertised: string): string | undefined {
  if (isReachable(advertised)) return advertised
  const ip = parseIp(advertised)
  if (ip === undefined || ip.value !== 0n) return undefined
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.find(({ address, family, internal }) => family === ip.family && !internal && isReachable(address))?.address
}
