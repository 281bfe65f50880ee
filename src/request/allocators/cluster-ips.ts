/**
 * Allocates the cluster IPs of Services. An allocated address is an IPAddress object with the
 * address as its name, so that only one server can create it; ServiceCIDR objects say which
 * addresses may be allocated.
 */
import {
  type Cidr,
  contains,
  formatIp,
  type Ip,
  type IpFamily,
  parseCidr,
  parseIp,
} from '../../api/ip.ts'
import { fieldsOf, itemsOf, type Json, type KubeObject, textsOf } from '../../api/object.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import type { IpRecords } from './ip-records.ts'

/**
 * Requests often name low addresses: the server chooses from the part above them while it has free
 * ones.
 */
const NAMED_SHARE = 16n
const NAMED_MIN = 16n
const NAMED_MAX = 256n
/** In a range that is too large to try every address, this many are tried from a random start. */
const TRIES_MAX = 65_536

/** The Service that has an address. */
export type Parent = { readonly namespace: string; readonly name: string }

export type ClusterIpsOptions = {
  /** All ServiceCIDRs. */
  readonly listRanges: (at: 'any' | 'latest') => Promise<readonly KubeObject[]>
  readonly readAddress: (ip: string, at: 'any' | 'latest') => Promise<KubeObject | undefined>
  /** According to the cache. */
  readonly hasAddress: (ip: string) => Promise<boolean>
  /** False: the address exists already. Any other failure throws. */
  readonly createAddress: (address: KubeObject) => Promise<boolean>
  /** Succeeds also if the address does not exist, or has another UID by now. */
  readonly deleteAddress: (ip: string, uid: string) => Promise<void>
  /** The records by which servers without IPAddress objects allocate. */
  readonly records: Pick<IpRecords, 'take' | 'remove'>
  /** Returns a number from 0 to below 1. */
  readonly random: () => number
}

/** An address cannot be allocated; the message is upstream's. */
export class IpError extends Error {
  override readonly name = 'IpError'
}

export class ClusterIps {
  readonly #options: ClusterIpsOptions

  constructor(options: ClusterIpsOptions) {
    this.#options = options
  }

  /** Allocates this address. Fails with an IpError. */
  async take(
    text: string,
    parent: Parent,
    { isDryRun }: { readonly isDryRun: boolean },
  ): Promise<void> {
    const ip = parseIp(text)
    const isUsable = (range: Cidr): boolean => {
      const { first, last } = usable(range)
      return ip !== undefined && contains(range, ip) && ip.value >= first && ip.value <= last
    }
    const isIn = async (at: 'any' | 'latest'): Promise<boolean> =>
      (await this.#ranges(at)).some(isUsable)
    if (ip === undefined || (!(await isIn('any')) && !(await isIn('latest')))) {
      throw new IpError('the provided network does not match the current range')
    }
    const isFree = isDryRun
      ? (await this.#options.readAddress(formatIp(ip), 'latest')) === undefined
      : await this.#create(ip, parent)
    if (!isFree) throw new IpError('provided IP is already allocated')
  }

  /** Allocates any free address of the family. Fails with an IpError. */
  async takeAny(
    family: IpFamily,
    parent: Parent,
    { isDryRun }: { readonly isDryRun: boolean },
  ): Promise<string> {
    const known = (await this.#ranges('any')).filter((range) => range.family === family)
    const ranges =
      known.length > 0
        ? known
        : (await this.#ranges('latest')).filter((range) => range.family === family)
    for (const range of ranges) {
      for (const part of partsOf(range)) {
        const ip = await this.#takeFrom(
          part,
          family,
          async (free) => isDryRun || this.#create(free, parent),
        )
        if (ip !== undefined) return formatIp(ip)
      }
    }
    throw new IpError('range is full')
  }

  /** Releases the address if it still belongs to this Service. */
  async release(text: string, parent: Parent): Promise<void> {
    const ip = parseIp(text)
    if (ip === undefined) return
    const address = await this.#options.readAddress(formatIp(ip), 'latest')
    if (address === undefined || !isOf(address, parent)) return
    // In this order: the next allocation takes the record first, and must not find the object then.
    await this.#options.deleteAddress(formatIp(ip), address.metadata.uid ?? '')
    await this.#options.records.remove(ip)
  }

  /** False: the address is taken. */
  async #create(ip: Ip, parent: Parent): Promise<boolean> {
    // The record first, since servers without IPAddress objects allocate by it. The repair removes
    // what a crash leaves there.
    if (!(await this.#options.records.take(ip))) return false
    let isOurs = false
    try {
      isOurs = await this.#options.createAddress(addressOf(formatIp(ip), ip.family, parent))
      return isOurs
    } finally {
      if (!isOurs) await this.#options.records.remove(ip)
    }
  }

  /** Tries the addresses from a random start, wrapping around. */
  async #takeFrom(
    { first, last }: Part,
    family: IpFamily,
    take: (ip: Ip) => Promise<boolean>,
  ): Promise<Ip | undefined> {
    const size = last - first + 1n
    if (size <= 0n) return undefined
    const start = randomBelow(size, this.#options.random)
    const steps = size < TRIES_MAX ? size : BigInt(TRIES_MAX)
    const slices = new Slices()
    for (let step = 0n; step < steps; step++) {
      if (slices.isOver) await slices.turn()
      const ip = { family, value: first + ((start + step) % size), isMapped: false }
      // An address that is in the cache is taken.
      if (await this.#options.hasAddress(formatIp(ip))) continue
      if (await take(ip)) return ip
    }
    return undefined
  }

  /** The ranges that are ready. One without a Ready condition counts as ready. */
  async #ranges(at: 'any' | 'latest'): Promise<Cidr[]> {
    const objects = await this.#options.listRanges(at)
    return objects
      .filter(
        (object) => object.metadata.deletionTimestamp === undefined && isReady(object['status']),
      )
      .flatMap((object) => textsOf(fieldsOf(object['spec'])['cidrs']).map(parseCidr))
      .filter((range) => range !== undefined)
  }
}

const isReady = (status: Json | undefined): boolean =>
  itemsOf(fieldsOf(status)['conditions']).every(
    ({ type, status: value }) => type !== 'Ready' || value === 'True',
  )

export function isOf(address: KubeObject, { namespace, name }: Parent): boolean {
  const parent = fieldsOf(fieldsOf(address['spec'])['parentRef'])
  return (
    parent['resource'] === 'services' &&
    parent['namespace'] === namespace &&
    parent['name'] === name
  )
}

export const managedBy = {
  label: 'ipaddress.kubernetes.io/managed-by',
  value: 'ipallocator.k8s.io',
} as const

export const addressOf = (name: string, family: IpFamily, parent: Parent): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IPAddress',
  metadata: {
    name,
    labels: { 'ipaddress.kubernetes.io/ip-family': family, [managedBy.label]: managedBy.value },
  },
  spec: { parentRef: { resource: 'services', ...parent } },
})

type Part = { readonly first: bigint; readonly last: bigint }

/** All addresses but the network address and, with IPv4, the broadcast address. */
const usable = ({ first, last, family }: Cidr): Part => ({
  first: first + 1n,
  last: family === 'IPv4' ? last - 1n : last,
})

/** The upper part first: see NAMED_SHARE. */
function partsOf(range: Cidr): Part[] {
  const { first, last } = usable(range)
  const share = (range.last - range.first + 1n) / NAMED_SHARE
  const named = share < NAMED_MIN ? 0n : share > NAMED_MAX ? NAMED_MAX : share
  const split = first + named
  return [
    { first: split, last },
    { first, last: split - 1n },
  ]
}

/** 32 bits of a random number are used; large ranges need more than one. */
function randomBelow(size: bigint, random: () => number): bigint {
  let value = 0n
  for (let bits = 0; size >> BigInt(bits) > 0n; bits += 32)
    value = (value << 32n) | BigInt(Math.floor(random() * 2 ** 32))
  return value % size
}
