/**
 * Allocates the cluster IPs of Services. An allocated address is an IPAddress object whose name is
 * the address, so that only one server can create it. ServiceCIDR objects define the ranges of
 * addresses.
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
 * Number of low addresses in a range that are reserved for clients, which often request low
 * addresses. The number is a sixteenth of the range, but at least `NAMED_MIN` and at most
 * `NAMED_MAX`. The server chooses higher addresses as long as any of them are free.
 */
const NAMED_SHARE = 16n
const NAMED_MIN = 16n
const NAMED_MAX = 256n
/**
 * Maximum number of addresses to try, beginning with a random one. It limits the search in ranges
 * that are too large to try every address.
 */
const TRIES_MAX = 65_536

/** The Service to which an address belongs. */
export type Parent = { readonly namespace: string; readonly name: string }

export type ClusterIpsOptions = {
  /** Returns all ServiceCIDRs. */
  readonly listRanges: (at: 'any' | 'latest') => Promise<readonly KubeObject[]>
  readonly readAddress: (ip: string, at: 'any' | 'latest') => Promise<KubeObject | undefined>
  /** Whether the cache contains an IPAddress object for the address. */
  readonly hasAddress: (ip: string) => Promise<boolean>
  /**
   * Creates an IPAddress object. Returns false if it already exists. Rejects on any other failure.
   */
  readonly createAddress: (address: KubeObject) => Promise<boolean>
  /**
   * Deletes the IPAddress object with this UID. Also succeeds if the object does not exist, or if
   * another object now has its name.
   */
  readonly deleteAddress: (ip: string, uid: string) => Promise<void>
  /** Allocation records of servers that do not use IPAddress objects. */
  readonly records: Pick<IpRecords, 'take' | 'remove'>
  /** Returns a random number in the range [0, 1). */
  readonly random: () => number
}

/** Thrown if an address cannot be allocated. The message is the same as in kube-apiserver. */
export class IpError extends Error {
  override readonly name = 'IpError'
}

export class ClusterIps {
  readonly #options: ClusterIpsOptions

  constructor(options: ClusterIpsOptions) {
    this.#options = options
  }

  /** Allocates the given address. Fails with an IpError if that is not possible. */
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

  /** Allocates any free address of the IP family. Fails with an IpError if that is not possible. */
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
    // Delete the object before the record entry. The next allocation takes the record entry first,
    // and must not find the object afterwards.
    await this.#options.deleteAddress(formatIp(ip), address.metadata.uid ?? '')
    await this.#options.records.remove(ip)
  }

  /**
   * Allocates an address, both in its record and by creating its IPAddress object. Returns false if
   * the address is already allocated.
   */
  async #create(ip: Ip, parent: Parent): Promise<boolean> {
    // Take the record entry first, because servers that do not use IPAddress objects allocate
    // through the record. If this server crashes before it creates the object, the repair loop
    // removes the address from the record.
    if (!(await this.#options.records.take(ip))) return false
    let isOurs = false
    try {
      isOurs = await this.#options.createAddress(addressOf(formatIp(ip), ip.family, parent))
      return isOurs
    } finally {
      if (!isOurs) await this.#options.records.remove(ip)
    }
  }

  /** Tries the addresses in a part of a range, beginning with a random one and wrapping around. */
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
      // If the cache contains the IPAddress object, the address is already allocated.
      if (await this.#options.hasAddress(formatIp(ip))) continue
      if (await take(ip)) return ip
    }
    return undefined
  }

  /** Returns the ranges that are ready. A range without a Ready condition counts as ready. */
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

/**
 * Returns the range of all addresses except the network address and, for IPv4, the broadcast
 * address.
 */
const usable = ({ first, last, family }: Cidr): Part => ({
  first: first + 1n,
  last: family === 'IPv4' ? last - 1n : last,
})

/** Returns the two parts of a range, beginning with the upper one (see `NAMED_SHARE`). */
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

/**
 * Returns a random number less than `size`. Each call of `random` yields 32 bits, so large ranges
 * need several calls.
 */
function randomBelow(size: bigint, random: () => number): bigint {
  let value = 0n
  for (let bits = 0; size >> BigInt(bits) > 0n; bits += 32)
    value = (value << 32n) | BigInt(Math.floor(random() * 2 ** 32))
  return value % size
}
