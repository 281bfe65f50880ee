/**
 * The addresses of Services once more, in the records that servers before IPAddress objects decide by. Newer ones keep them up to
 * date, so that one can go back; they decide nothing here.
 */
import { type Cidr, contains, formatCidr, type Ip } from '../api/ip.ts'
import type { Log } from '../lib/log.ts'
import { serverRecords } from '../storage/keys.ts'
import type { Key } from '../storage/engine.ts'
import type { Store } from '../storage/store.ts'
import type { NumberSet } from './number-set.ts'
import { RangeRecord } from './range-record.ts'

export type IpRecordsParts = {
  readonly store: Store
  /** What all keys begin with. */
  readonly root: Key
  /** Of the flags: the first and, with two families, the second. */
  readonly ranges: readonly Cidr[]
  /** Moves when the database becomes another one. */
  readonly life: () => number
  readonly log: Log
}

type Entry = { readonly cidr: Cidr; readonly record: RangeRecord }

export class IpRecords {
  readonly #entries: readonly Entry[]
  readonly #log: Log

  constructor({ store, root, ranges, life, log }: IpRecordsParts) {
    this.#log = log
    this.#entries = ranges.map((cidr, at) => {
      const folder = at === 0 ? serverRecords.serviceIps : serverRecords.secondaryServiceIps
      const range = { first: 0, last: lastOf(cidr) }
      // What the addresses of another range were is of no use.
      const shape = { range, text: formatCidr(cidr), adopt: () => 0n, random: () => 0, life }
      return { cidr, record: new RangeRecord({ store, key: `${root}${folder}`, ...shape }) }
    })
  }

  /** Never fails. */
  add(ip: Ip): Promise<void> {
    return this.#change(ip, (set, number) => set.add(number))
  }

  /** Never fails. */
  remove(ip: Ip): Promise<void> {
    return this.#change(ip, (set, number) => set.release(number))
  }

  /** Makes the records say that these are taken and no others. */
  async reset(ips: readonly Ip[]): Promise<void> {
    for (const { cidr, record } of this.#entries) {
      const held = new Set(ips.filter((ip) => contains(cidr, ip)).map((ip) => numberOf(cidr, ip)))
      await record.change((set) => {
        for (const number of set.list()) if (!held.has(number)) set.release(number)
        for (const number of held) set.add(number)
      })
    }
  }

  async #change(ip: Ip, change: (set: NumberSet, number: number) => void): Promise<void> {
    const entry = this.#entries.find(({ cidr }) => contains(cidr, ip))
    if (entry === undefined) return
    try {
      await entry.record.change((set) => change(set, numberOf(entry.cidr, ip)))
    } catch (error) {
      this.#log('warn', 'the record of service addresses was not written; the repair will do it', {
        error: String(error),
      })
    }
  }
}

/** The address of the network is not counted. */
const numberOf = ({ first }: Cidr, { value }: Ip): number => Number(value - first - 1n)

/** Nor is that of the broadcast, which IPv6 has not. */
const lastOf = ({ family, first, last }: Cidr): number => Number(last - first) - (family === 'IPv4' ? 2 : 1)
