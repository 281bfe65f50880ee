/**
 * Allocates and releases what a Service needs in addition to its object: cluster IPs, node ports,
 * and the Endpoints with the same name.
 */
import { type ApiError, internalError, invalid } from '../../api/errors.ts'
import { type FieldFault, invalidShown } from '../../api/field-fault.ts'
import { goStrings } from '../../api/go-value.ts'
import type { Cidr, IpFamily } from '../../api/ip.ts'
import { type Fields, type KubeObject, textsOf } from '../../api/object.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Allocator, Allocation, AllocationRequest } from '../../registry/allocations.ts'
import { withPlural } from '../../registry/kinds/core/service-prepare.ts'
import { faultsOfRelease } from '../../registry/release-faults.ts'
import { settleFamilies } from '../../registry/kinds/core/service-families.ts'
import {
  isHeadless,
  needsClusterIp,
  ownIpsOf,
  specOf,
  typeOf,
} from '../../registry/kinds/core/service-needs.ts'
import { type ClusterIps, IpError, type Parent } from './cluster-ips.ts'
import { type AllocatorMetrics, rangeOfFamily, type Scope } from './metrics.ts'
import type { NumberSet } from './number-set.ts'
import type { RangeRecord } from './range-record.ts'
import { type PortAssignment, assignPorts, lacksPorts, portsHeld } from './service-ports.ts'

export type ServiceAllocatorOptions = {
  /** Minor version of the release that the control plane serves. */
  readonly release: number
  readonly clusterIps: Pick<ClusterIps, 'take' | 'takeAny' | 'release'>
  readonly nodePorts: RangeRecord
  /**
   * The ranges of cluster IPs, one for each IP family of the cluster. The first one is the primary
   * range.
   */
  readonly cidrs: readonly Cidr[]
  readonly metrics: AllocatorMetrics
  /**
   * Value of the metric label `scope` for addresses that the server chooses. As in kube-apiserver,
   * such an address is counted as if a client had requested it, if it has an IPAddress object.
   */
  readonly chosenScope: Scope
  readonly deleteEndpoints: (parent: Parent) => Promise<void>
  readonly log: Log
}

const serviceKind = { group: '', kind: 'Service' } as const

export class ServiceAllocator implements Allocator {
  readonly #options: ServiceAllocatorOptions
  readonly #families: readonly IpFamily[]

  constructor(options: ServiceAllocatorOptions) {
    this.#options = options
    this.#families = options.cidrs.map(({ family }) => family)
  }

  readonly allocate = async (wanted: AllocationRequest): Promise<Allocation> => {
    const { object, before, namespace, isDryRun, inParts } = wanted
    const name = object.metadata.name ?? ''
    const parent = { namespace, name }
    const old = before && specOf(before)
    const given = before === undefined ? withPlural(object) : object
    const settle = (): ReturnType<typeof settleFamilies> =>
      settleFamilies(specOf(given), old, this.#families)
    const settled = inParts === undefined ? settle() : await inParts(settle)
    if ('faults' in settled) throw this.#refuse(name, settled.faults)
    const ips: string[] = []
    const ports: number[] = []
    const undo = (): Promise<void> => this.#giveBack(parent, { ips, ports, isDryRun })
    try {
      const addressed = await this.#takeIps(settled.spec, old, { parent, isDryRun, taken: ips })
      const spec = await this.#takePorts(addressed, old, { name, isDryRun, taken: ports })
      const keep = (): Promise<void> => this.#giveBack(parent, { ...freed(spec, old), isDryRun })
      return { object: { ...object, spec }, keep, undo }
    } catch (error) {
      await undo()
      throw error
    }
  }

  readonly release = async (object: KubeObject, namespace: string): Promise<void> => {
    const parent = { namespace, name: object.metadata.name ?? '' }
    const spec = specOf(object)
    await this.#giveBack(parent, { ips: ownIpsOf(spec), ports: portsHeld(spec), isDryRun: false })
    // The Endpoints of a Service are deleted with the Service, even if a client wrote them.
    await this.#orLog('the Endpoints of a Service', parent, () =>
      this.#options.deleteEndpoints(parent),
    )
  }

  #refuse(name: string, faults: readonly FieldFault[]): ApiError {
    return invalid(serviceKind, name, faultsOfRelease([...faults], this.#options.release))
  }

  async #takeIps(
    spec: Fields,
    before: Fields | undefined,
    {
      parent,
      isDryRun,
      taken,
    }: { readonly parent: Parent; readonly isDryRun: boolean; readonly taken: string[] },
  ): Promise<Fields> {
    if (!needsClusterIp(spec) || isHeadless(spec)) return spec
    const first = firstMissing(before)
    if (first === Infinity) return spec
    const ips = [...textsOf(spec['clusterIPs'])]
    const families = textsOf(spec['ipFamilies'])
    for (let at = first; at < families.length; at++) {
      const family = families[at] === 'IPv6' ? 'IPv6' : 'IPv4'
      const wanted = ips[at]
      const ip = await this.#takeIp(wanted, family, { ips, parent, isDryRun })
      taken.push(ip)
      ips[at] = ip
    }
    return { ...spec, clusterIP: ips[0] ?? '', clusterIPs: ips }
  }

  async #takeIp(
    wanted: string | undefined,
    family: IpFamily,
    { ips, parent, isDryRun }: TakingIp,
  ): Promise<string> {
    const { clusterIps, cidrs, chosenScope, metrics } = this.#options
    const take = async (): Promise<string> => {
      if (wanted === undefined) return await clusterIps.takeAny(family, parent, { isDryRun })
      await clusterIps.take(wanted, parent, { isDryRun })
      return wanted
    }
    try {
      if (isDryRun) return await take()
      return await metrics.ip(
        rangeOfFamily(cidrs, family),
        wanted === undefined ? chosenScope : 'static',
        take,
      )
    } catch (error) {
      if (!(error instanceof IpError)) throw error
      if (wanted === undefined)
        throw internalError(`failed to allocate a serviceIP: ${error.message}`, error)
      const why = `failed to allocate IP ${wanted}: ${error.message}`
      throw this.#refuse(parent.name, [invalidShown('spec.clusterIPs', goStrings(ips), why)])
    }
  }

  async #takePorts(
    spec: Fields,
    before: Fields | undefined,
    {
      name,
      isDryRun,
      taken,
    }: { readonly name: string; readonly isDryRun: boolean; readonly taken: number[] },
  ): Promise<Fields> {
    const { nodePorts, metrics } = this.#options
    if (!lacksPorts(spec, before)) return spec
    const assign = (ports: NumberSet): PortAssignment => assignPorts(name, spec, before, ports)
    const assigned = isDryRun ? await nodePorts.attempt(assign) : await nodePorts.change(assign)
    // Bounded: there are at most as many items as node ports, so they can be passed as arguments.
    taken.push(...assigned.taken)
    if (!isDryRun) {
      const named = new Set(portsHeld(spec))
      const asked = assigned.taken.filter((port) => named.has(port)).length
      metrics.ports('static', asked)
      metrics.ports('dynamic', assigned.taken.length - asked)
    }
    return assigned.spec
  }

  async #giveBack(parent: Parent, { ips, ports, isDryRun }: HeldAddresses): Promise<void> {
    if (isDryRun) return
    for (const ip of ips)
      await this.#orLog('a cluster IP', parent, () => this.#options.clusterIps.release(ip, parent))
    if (ports.length === 0) return
    await this.#orLog('node ports', parent, () =>
      this.#options.nodePorts.change((set) => {
        for (const port of ports) set.release(port)
      }),
    )
  }

  async #orLog(what: string, { namespace, name }: Parent, run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (error) {
      const why = messageOf(error)
      this.#options.log(
        'warn',
        `${what} could not be released; the repair loop will release cluster IPs and node ports later`,
        {
          namespace,
          name,
          why,
        },
      )
    }
  }
}

type HeldAddresses = {
  readonly ips: readonly string[]
  readonly ports: readonly number[]
  readonly isDryRun: boolean
}
type TakingIp = {
  readonly ips: readonly string[]
  readonly parent: Parent
  readonly isDryRun: boolean
}

/** Returns the addresses and ports that an update removes from the Service. */
function freed(spec: Fields, before: Fields | undefined): Pick<HeldAddresses, 'ips' | 'ports'> {
  if (before === undefined) return { ips: [], ports: [] }
  const ips = new Set(ownIpsOf(spec))
  const ports = new Set(portsHeld(spec))
  return {
    ips: ownIpsOf(before).filter((ip) => !ips.has(ip)),
    ports: portsHeld(before).filter((port) => !ports.has(port)),
  }
}

/**
 * Returns the index of the first cluster IP of the Service that must be allocated. Existing cluster
 * IPs are kept, because validation rejects changes to them.
 */
function firstMissing(before: Fields | undefined): number {
  if (before === undefined || typeOf(before) === 'ExternalName') return 0
  // A server-side apply to the status can create a Service without an address. As in
  // kube-apiserver, such a Service remains without an address.
  return ownIpsOf(before).length || Infinity
}
