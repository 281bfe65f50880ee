/**
 * Stores allocated addresses in records. Servers that do not use IPAddress objects use these
 * records: older servers, and this server if the MultiCIDRServiceAllocator feature gate is off
 * (recorded-ips.ts).
 *
 * If the gate is on, each address is taken in its record before its object is created. Therefore,
 * replicas with and without the gate can run at the same time, and the gate can be turned off
 * again.
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
  /**
   * The ranges from `--service-cluster-ip-range`: the primary range and, in a dual-stack cluster,
   * the secondary range.
   */
  readonly ranges: readonly Cidr[]
  /** Returns a number that increases when the database is replaced by another database. */
  readonly life: () => number
  /** Returns a random number in the range [0, 1). */
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
      // Addresses that are in both the old and the new range remain allocated, because a Service
      // with one of them might not be stored yet.
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
   * Takes an address in its record. Returns false if the address is already taken. Returns true
   * without a change if no record covers the address, or if the record cannot be used until a
   * repair has written it.
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

  /** Marks an address as taken, even if it is already marked. Never rejects. */
  add(ip: Ip): Promise<void> {
    return this.#change(ip, (set, number) => set.add(number))
  }

  /** Releases an address. Never rejects. */
  remove(ip: Ip): Promise<void> {
    return this.#change(ip, (set, number) => set.release(number))
  }

  async #change(ip: Ip, change: (set: NumberSet, number: number) => void): Promise<void> {
    const entry = this.#entryOf(ip)
    if (entry === undefined) return
    try {
      await entry.record.change((set) => change(set, offsetOf(entry.cidr, ip)))
    } catch (error) {
      this.#log(
        'warn',
        'could not write the cluster IP allocations; the repair loop will write them later',
        {
          error: String(error),
        },
      )
    }
  }

  #entryOf(ip: Ip): IpRecords['entries'][number] | undefined {
    return this.entries.find(({ cidr }) => contains(cidr, ip))
  }
}

/**
 * Returns the position of an address in its record, counted from the first address after the
 * network address.
 */
export const offsetOf = ({ first }: Cidr, { value }: Ip): number => Number(value - first - 1n)

/** Maximum number of addresses in the record of an IPv6 range, as in kube-apiserver. */
const IPV6_MAX = 65_536n

/**
 * Returns the last position in a record. In an IPv4 range, the broadcast address has no position.
 * An IPv6 range has no broadcast address.
 */
export function lastOf({ family, first, last }: Cidr): number {
  const size = last - first + 1n
  if (family === 'IPv4') return Number(size) - 3
  return Number(size > IPV6_MAX ? IPV6_MAX : size) - 2
}

const namedAddresses = { of: 16, max: 256 }
