/**
 * Reconciles addresses and node ports with the existing Services: allocates those that a Service
 * uses, and releases those that no Service uses. Differences arise when a server crashes between
 * two writes, or when the outcome of a write is unknown.
 */
import { type Cidr, contains, formatCidr, formatIp, type Ip, parseIp } from '../../api/ip.ts'
import { type Fields, fieldsOf, type KubeObject, textOf } from '../../api/object.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { ownIpsOf, specOf } from '../../registry/kinds/core/service-needs.ts'
import { addressOf, isOf, managedBy } from './cluster-ips.ts'
import { type IpRecords, offsetOf } from './ip-records.ts'
import type { RangeRecord } from './range-record.ts'
import { RecordRepair, type RepairableRecord } from './record-repair.ts'
import { portsHeld } from './service-ports.ts'

/**
 * Age at which an IPAddress without a Service is released. No write of a Service takes this long,
 * so a Service with this address is either stored or will never be stored.
 */
const ADDRESS_AGE_MS_MIN = 60_000

export type RepairOptions = {
  readonly nodePorts: RepairableRecord
  /** Lists all Services with a consistent read. */
  readonly listServices: () => Promise<readonly KubeObject[]>
  readonly listAddresses: () => Promise<readonly KubeObject[]>
  readonly readAddress: (ip: string, at: 'any' | 'latest') => Promise<KubeObject | undefined>
  /** Whether the cache contains an IPAddress object for the address. */
  readonly hasAddress: (ip: string) => Promise<boolean>
  /** Creates an IPAddress object. Returns false if it already exists. */
  readonly createAddress: (address: KubeObject) => Promise<boolean>
  readonly deleteAddress: (ip: string, uid: string) => Promise<void>
  readonly records: Pick<IpRecords, 'add'> & {
    readonly entries: readonly { readonly cidr: Cidr; readonly record: IpRecord }[]
  }
  /** Whether each cluster IP also has an IPAddress object, and not only an entry in a record. */
  readonly hasAddressObjects: boolean
  /** Returns a number that increases when the database is replaced by another database. */
  readonly life: () => number
  readonly wallMs: () => number
  readonly log: Log
}

type IpRecord = RepairableRecord & Pick<RangeRecord, 'isUsable'>
type RecordedRange = {
  readonly cidr: Cidr
  readonly record: IpRecord
  readonly repair: RecordRepair
}

export class Repair {
  readonly #options: RepairOptions
  readonly #ports: RecordRepair
  readonly #records: readonly RecordedRange[]

  constructor(options: RepairOptions) {
    this.#options = options
    this.#ports = new RecordRepair(options.nodePorts, options.life)
    this.#records = options.records.entries.map(({ cidr, record }) => ({
      cidr,
      record,
      repair: new RecordRepair(record, options.life),
    }))
  }

  /**
   * Repairs records that cannot be used. Must be called before the server is ready, because no
   * address can be allocated from a record that is missing or has another range. Fails if a record
   * still cannot be used.
   */
  async prepare(): Promise<void> {
    for (const { cidr, record, repair } of this.#records) {
      if (await record.isUsable()) continue
      await this.#repairRecord(cidr, repair)
      if (!(await record.isUsable()))
        throw new Error(
          `the record of the cluster IPs of ${formatCidr(cidr)} is missing or has another range: set --service-cluster-ip-range to the same value on all servers`,
        )
    }
  }

  async pass(): Promise<void> {
    if (this.#options.hasAddressObjects) await this.#repairAddresses()
    for (const { cidr, repair } of this.#records) await this.#repairRecord(cidr, repair)
    await this.#repairPorts()
  }

  /** Whether the address is allocated, according to the cache. */
  async isTaken(text: string): Promise<boolean> {
    const ip = parseIp(text)
    return ip === undefined || (await this.#options.hasAddress(formatIp(ip)))
  }

  /** Allocates those addresses of a Service that are not yet allocated. */
  async takeAddresses(service: Fields): Promise<void> {
    const { namespace, name } = fieldsOf(service['metadata'])
    const owner = { namespace: textOf(namespace), name: textOf(name) }
    for (const text of ownIpsOf(fieldsOf(service['spec']))) {
      const ip = parseIp(text)
      if (ip !== undefined && (await this.#take(ip, owner))) await this.#options.records.add(ip)
    }
  }

  async #repairPorts(): Promise<void> {
    const { listServices, log } = this.#options
    const { missing, freed } = await this.#ports.pass(
      async () => new Set((await listServices()).flatMap((service) => portsHeld(specOf(service)))),
    )
    if (missing.length > 0)
      log('warn', 'node ports used by Services were not allocated; they are allocated now', {
        ports: missing,
      })
    if (freed.length > 0)
      log('warn', 'node ports that no Service uses were released', { ports: freed })
  }

  /**
   * Repairs a record. The record is compared with the Services instead of the IPAddress objects,
   * because another replica might create Services without IPAddress objects.
   */
  async #repairRecord(cidr: Cidr, repair: RecordRepair): Promise<void> {
    const { listServices, log } = this.#options
    const { missing, freed } = await repair.pass(async () => {
      const ips = [...ownersOf(await listServices()).keys()].map(parseIp)
      return new Set(
        ips.flatMap((ip) => (ip !== undefined && contains(cidr, ip) ? [offsetOf(cidr, ip)] : [])),
      )
    })
    const range = formatCidr(cidr)
    if (missing.length > 0)
      log('warn', 'cluster IPs used by Services were not allocated; they are allocated now', {
        range,
        at: missing,
      })
    if (freed.length > 0)
      log('warn', 'cluster IPs that no Service uses were released', { range, at: freed })
  }

  async #repairAddresses(): Promise<void> {
    const life = this.#options.life()
    // List addresses before Services, so that the address of a Service that is stored between the
    // two lists is not released.
    const addresses = await this.#options.listAddresses()
    const owners = ownersOf(await this.#options.listServices())
    const known = new Set<string>()
    for (const address of addresses) {
      const { name = '' } = address.metadata
      known.add(name)
      const owner = owners.get(name)
      if (owner !== undefined && isOf(address, owner)) continue
      if (this.#options.life() !== life) return
      if (owner === undefined) await this.#freeAddress(address)
      else
        this.#options.log(
          'warn',
          'a Service uses a cluster IP that is allocated to another Service',
          {
            address: name,
            ...owner,
          },
        )
    }
    const missing = [...owners.keys()].filter((name) => !known.has(name))
    if (missing.length > 0) await this.#takeMissing(missing)
  }

  /**
   * Allocates those addresses of Services for which no IPAddress object was found. Lists the
   * Services again, to ignore Services that were deleted after the first list.
   */
  async #takeMissing(names: readonly string[]): Promise<void> {
    const owners = ownersOf(await this.#options.listServices())
    for (const name of names) {
      const owner = owners.get(name)
      const ip = parseIp(name)
      if (owner !== undefined && ip !== undefined) await this.#take(ip, owner)
    }
  }

  /** Allocates an address. Returns false if it is already allocated. */
  async #take(ip: Ip, owner: Owner): Promise<boolean> {
    const address = formatIp(ip)
    if ((await this.#options.readAddress(address, 'latest')) !== undefined) return false
    const wasFree = await this.#options.createAddress(addressOf(address, ip.family, owner))
    if (wasFree)
      this.#options.log(
        'warn',
        'a cluster IP used by a Service was not allocated; it is allocated now',
        {
          address,
          ...owner,
        },
      )
    return wasFree
  }

  /**
   * Releases an address if it has the allocator's label and is old enough. Without the label, a
   * client created the IPAddress for its own purposes.
   */
  async #freeAddress({ metadata }: KubeObject): Promise<void> {
    const { name = '', uid = '', creationTimestamp, labels } = metadata
    if (labels?.[managedBy.label] !== managedBy.value) return
    if (this.#options.wallMs() - Date.parse(creationTimestamp ?? '') < ADDRESS_AGE_MS_MIN) return
    await this.#options.deleteAddress(name, uid)
    this.#options.log('warn', 'a cluster IP that no Service uses was released', { address: name })
  }
}

type Owner = { readonly namespace: string; readonly name: string }

function ownersOf(services: readonly KubeObject[]): Map<string, Owner> {
  const owners = new Map<string, Owner>()
  for (const service of services) {
    const { namespace = '', name = '' } = service.metadata
    for (const text of ownIpsOf(specOf(service))) {
      const ip = parseIp(text)
      if (ip !== undefined) owners.set(formatIp(ip), { namespace, name })
    }
  }
  return owners
}
