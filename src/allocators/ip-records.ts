/**
 * The addresses of Services in the records that servers before IPAddress objects decide by, and ours where the gate
 * MultiCIDRServiceAllocator is off (recorded-ips.ts). Where it is on, an address is taken in its record first: so replicas with and
 * without the gate can run at the same time, and one can go back.
 */
import { type Cidr, contains, formatCidr, type Ip, parseCidr } from '../api/ip.ts'
import type { Log } from '../lib/log.ts'
import { serverRecords } from '../storage/keys.ts'
import type { Key } from '../storage/engine.ts'
import type { Store } from '../storage/store.ts'
import { adopted, namedOf, type NumberSet } from './number-set.ts'
import { RangeRecord, UnrepairedError } from './range-record.ts'

export type IpRecordsParts = {
  readonly store: Store
  /** What all keys begin with. */
  readonly root: Key
  /** Of the flags: the first and, with two families, the second. */
  readonly ranges: readonly Cidr[]
  /** Moves when the database becomes another one. */
  readonly life: () => number
  /** From 0 to below 1. */
  readonly random: () => number
  readonly log: Log
}

export type IpRecord = { readonly cidr: Cidr; readonly record: Pick<RangeRecord, 'change'> }

export class IpRecords {
  readonly entries: readonly { readonly cidr: Cidr; readonly record: RangeRecord }[]
  readonly #log: Log

  constructor({ store, root, ranges, life, random, log }: IpRecordsParts) {
    this.#log = log
    this.entries = ranges.map((cidr, at) => {
      const folder = at === 0 ? serverRecords.serviceIps : serverRecords.secondaryServiceIps
      const range = {
        first: 0,
        last: lastOf(cidr),
        named: namedOf(Number(cidr.last - cidr.first + 1n), namedAddresses),
      }
      // Addresses that both ranges have stay taken: a Service may be on its way with one.
      const adopt = (text: string, bytes: Buffer): Buffer => {
        const was = parseCidr(text)
        if (was?.family !== cidr.family) return Buffer.alloc(0)
        return adopted(bytes, Number(was.first - cidr.first), range)
      }
      const shape = { range, text: formatCidr(cidr), adopt, repairedFirst: 'serviceipallocations', random, life }
      return { cidr, record: new RangeRecord({ store, key: `${root}${folder}`, ...shape }) }
    })
  }

  /** False: it is taken. What no record covers, or none that is repaired, is free as far as records know. */
  async take(ip: Ip): Promise<boolean> {
    const entry = this.#entryOf(ip)
    if (entry === undefined) return true
    const number = offsetOf(entry.cidr, ip)
    try {
      return await entry.record.change((set) => {
        const isFree = !set.has(number)
        set.add(number)
        return isFree
      })
    } catch (error) {
      if (error instanceof UnrepairedError) return true
      throw error
    }
  }

  /** Never fails. */
  add(ip: Ip): Promise<void> {
    return this.#change(ip, (set, number) => set.add(number))
  }

  /** Never fails. */
  remove(ip: Ip): Promise<void> {
    return this.#change(ip, (set, number) => set.release(number))
  }

  async #change(ip: Ip, change: (set: NumberSet, number: number) => void): Promise<void> {
    const entry = this.#entryOf(ip)
    if (entry === undefined) return
    try {
      await entry.record.change((set) => change(set, offsetOf(entry.cidr, ip)))
    } catch (error) {
      this.#log('warn', 'the record of service addresses was not written; the repair will do it', {
        error: String(error),
      })
    }
  }

  #entryOf(ip: Ip): IpRecords['entries'][number] | undefined {
    return this.entries.find(({ cidr }) => contains(cidr, ip))
  }
}

/** The address of the network is not counted. */
export const offsetOf = ({ first }: Cidr, { value }: Ip): number => Number(value - first - 1n)

/** Of IPv6 a record has no more than so many addresses, as upstream's. */
const IPV6_MAX = 65_536n

/** Nor is that of the broadcast, which IPv6 has not. */
export function lastOf({ family, first, last }: Cidr): number {
  const size = last - first + 1n
  if (family === 'IPv4') return Number(size) - 3
  return Number(size > IPV6_MAX ? IPV6_MAX : size) - 2
}

const namedAddresses = { of: 16, max: 256 }
