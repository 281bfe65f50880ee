/**
 * The addresses of Services in the records by which servers without IPAddress objects allocate:
 * older ones, and this one if the gate MultiCIDRServiceAllocator is off (recorded-ips.ts). If it is
 * on, an address is taken in its record first, so that replicas with and without the gate can run
 * at the same time, and the gate can be turned off again.
 */
import { type Cidr, contains, formatCidr, type Ip, parseCidr } from '../../api/ip.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { serverRecords } from '../../storage/keys.ts'
import type { Key } from '../../storage/engine.ts'
import type { Store } from '../../storage/store.ts'
import { adopted, namedOf, type NumberSet } from './number-set.ts'
import { RangeRecord, UnrepairedError } from './range-record.ts'

export type IpRecordsOptions = {
  readonly store: Store
  /** The prefix of all keys. */
  readonly root: Key
  /** The ranges of the flag: the primary one and, in a dual-stack cluster, the secondary. */
  readonly ranges: readonly Cidr[]
  /** Increases when the database is replaced by another one. */
  readonly life: () => number
  /** Returns a number from 0 to below 1. */
  readonly random: () => number
  readonly log: Log
}

export type IpRecord = { readonly cidr: Cidr; readonly record: Pick<RangeRecord, 'change'> }

export class IpRecords {
  readonly entries: readonly { readonly cidr: Cidr; readonly record: RangeRecord }[]
  readonly #log: Log

  constructor({ store, root, ranges, life, random, log }: IpRecordsOptions) {
    this.#log = log
    this.entries = ranges.map((cidr, at) => {
      const folder = at === 0 ? serverRecords.serviceIps : serverRecords.secondaryServiceIps
      const range = {
        first: 0,
        last: lastOf(cidr),
        named: namedOf(Number(cidr.last - cidr.first + 1n), namedAddresses),
      }
      // Addresses in both ranges stay taken: a Service with one of them may be about to be stored.
      const adopt = (text: string, bytes: Buffer): Buffer => {
        const was = parseCidr(text)
        if (was?.family !== cidr.family) return Buffer.alloc(0)
        return adopted(bytes, Number(was.first - cidr.first), range)
      }
      const shape = {
        range,
        text: formatCidr(cidr),
        adopt,
        repairedFirst: 'serviceipallocations',
        random,
        life,
      }
      return { cidr, record: new RangeRecord({ store, key: `${root}${folder}`, ...shape }) }
    })
  }

  /**
   * False: the address is taken. True also if no record covers it, or the record is still to be
   * repaired.
   */
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

/** The position of an address in its record. The network address has none. */
export const offsetOf = ({ first }: Cidr, { value }: Ip): number => Number(value - first - 1n)

/** A record of an IPv6 range has at most so many addresses, as upstream. */
const IPV6_MAX = 65_536n

/** The last position in a record. The broadcast address, which IPv6 does not have, has none. */
export function lastOf({ family, first, last }: Cidr): number {
  const size = last - first + 1n
  if (family === 'IPv4') return Number(size) - 3
  return Number(size > IPV6_MAX ? IPV6_MAX : size) - 2
}

const namedAddresses = { of: 16, max: 256 }
