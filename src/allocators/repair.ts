/**
 * Brings addresses and node ports in line with the Services there are: what a Service has is taken, what nobody has is given back. A
 * server that died between two writes leaves such things behind, and so does a write of which nobody knows whether it was made.
 */
import { formatIp, type Ip, parseIp } from '../api/ip.ts'
import { type Fields, fieldsOf, type KubeObject, textOf } from '../api/object.ts'
import type { Log } from '../lib/log.ts'
import { ownIpsOf, specOf } from '../registry/kinds/core/service-needs.ts'
import { addressOf, isOf, managedBy } from './cluster-ips.ts'
import type { IpRecords } from './ip-records.ts'
import type { RangeRecord } from './range-record.ts'
import type { NumberSet } from './number-set.ts'
import { portsHeld } from './service-ports.ts'

/** A port that nobody has in so many passes is not that of a Service on its way. */
const PASSES_TILL_FREE = 3
/** The same for addresses, which know their age: longer than any write takes. */
const ADDRESS_AGE_MS_MIN = 60_000

export type RepairParts = {
  readonly nodePorts: Pick<RangeRecord, 'change'>
  /** All that there are, latest. */
  readonly listServices: () => Promise<readonly KubeObject[]>
  readonly listAddresses: () => Promise<readonly KubeObject[]>
  readonly readAddress: (ip: string, at: 'any' | 'latest') => Promise<KubeObject | undefined>
  /** False: there is such an address. */
  readonly createAddress: (address: KubeObject) => Promise<boolean>
  readonly deleteAddress: (ip: string, uid: string) => Promise<void>
  readonly records: Pick<IpRecords, 'add' | 'reset'>
  /** Moves when the database becomes another one. */
  readonly life: () => number
  readonly wallMs: () => number
  readonly log: Log
}

export class Repair {
  readonly #parts: RepairParts
  /** Of ports that are taken: in how many passes nobody had them. What nobody had in another database says nothing of this one. */
  #unowned: { readonly life: number; readonly passes: ReadonlyMap<number, number> } = { life: -1, passes: new Map() }

  constructor(parts: RepairParts) {
    this.#parts = parts
  }

  async pass(): Promise<void> {
    await this.#repairAddresses()
    await this.#repairPorts()
  }

  /** As far as memory knows. */
  async isTaken(text: string): Promise<boolean> {
    const ip = parseIp(text)
    return ip === undefined || (await this.#parts.readAddress(formatIp(ip), 'any')) !== undefined
  }

  /** Those of one Service that are free. */
  async takeAddresses(service: Fields): Promise<void> {
    const { namespace, name } = fieldsOf(service['metadata'])
    const owner = { namespace: textOf(namespace), name: textOf(name) }
    for (const text of ownIpsOf(fieldsOf(service['spec']))) {
      const ip = parseIp(text)
      if (ip !== undefined && (await this.#take(ip, owner))) await this.#parts.records.add(ip)
    }
  }

  async #repairPorts(): Promise<void> {
    const { nodePorts, listServices, log } = this.#parts
    const life = this.#parts.life()
    const held = new Set((await listServices()).flatMap((service) => portsHeld(specOf(service))))
    const known = this.#unowned.life === life ? this.#unowned.passes : new Map<number, number>()
    const isSame = (): boolean => this.#parts.life() === life
    const done = await nodePorts.change((ports) => (isSame() ? repaired(ports, held, known) : undefined))
    // Of another database the next pass finds out.
    if (done === undefined) return
    const { missing, freed, unowned } = done
    this.#unowned = { life, passes: unowned }
    if (missing.length > 0) log('warn', 'node ports of services were not taken; they are now', { ports: missing })
    if (freed.length > 0) log('warn', 'node ports that no service has are free again', { ports: freed })
  }

  async #repairAddresses(): Promise<void> {
    const life = this.#parts.life()
    // Addresses first: a Service that comes after them is looked at, one that came before has its address among them.
    const addresses = await this.#parts.listAddresses()
    const owners = ownersOf(await this.#parts.listServices())
    const known = new Set<string>()
    for (const address of addresses) {
      const { name = '' } = address.metadata
      known.add(name)
      const owner = owners.get(name)
      if (owner !== undefined && isOf(address, owner)) continue
      if (this.#parts.life() !== life) return
      if (owner === undefined) await this.#freeAddress(address)
      else this.#parts.log('warn', 'a service has the address of another', { address: name, ...owner })
    }
    const missing = [...owners.keys()].filter((name) => !known.has(name))
    if (missing.length > 0) await this.#takeMissing(missing)
    const taken = (await this.#parts.listAddresses()).map(({ metadata }) => parseIp(metadata.name ?? ''))
    await this.#parts.records.reset(taken.filter((ip) => ip !== undefined))
  }

  /** What came or went while the lists were made is not looked at. */
  async #takeMissing(names: readonly string[]): Promise<void> {
    const owners = ownersOf(await this.#parts.listServices())
    for (const name of names) {
      const owner = owners.get(name)
      const ip = parseIp(name)
      if (owner !== undefined && ip !== undefined) await this.#take(ip, owner)
    }
  }

  /** False: it was taken already. */
  async #take(ip: Ip, owner: Owner): Promise<boolean> {
    const address = formatIp(ip)
    if ((await this.#parts.readAddress(address, 'latest')) !== undefined) return false
    const wasFree = await this.#parts.createAddress(addressOf(address, ip.family, owner))
    if (wasFree) this.#parts.log('warn', 'the address of a service was free; it is taken now', { address, ...owner })
    return wasFree
  }

  /** Addresses that clients made for their own ends stay. */
  async #freeAddress({ metadata }: KubeObject): Promise<void> {
    const { name = '', uid = '', creationTimestamp, labels } = metadata
    if (labels?.[managedBy.label] !== managedBy.value) return
    if (this.#parts.wallMs() - Date.parse(creationTimestamp ?? '') < ADDRESS_AGE_MS_MIN) return
    await this.#parts.deleteAddress(name, uid)
    this.#parts.log('warn', 'an address that no service has is free again', { address: name })
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

type Repaired = {
  readonly missing: readonly number[]
  readonly freed: readonly number[]
  readonly unowned: ReadonlyMap<number, number>
}

function repaired(ports: NumberSet, held: ReadonlySet<number>, known: ReadonlyMap<number, number>): Repaired {
  const missing = [...held].filter((port) => ports.includes(port) && !ports.has(port))
  for (const port of missing) ports.take(port)
  const passes = ports
    .list()
    .flatMap((port): [number, number][] => (held.has(port) ? [] : [[port, (known.get(port) ?? 0) + 1]]))
  const freed = passes.filter(([, count]) => count >= PASSES_TILL_FREE).map(([port]) => port)
  for (const port of freed) ports.release(port)
  return { missing, freed, unowned: new Map(passes.filter(([, count]) => count < PASSES_TILL_FREE)) }
}
