/**
 * Allocates the cluster IPs of Services through records only, if the MultiCIDRServiceAllocator
 * feature gate is off. The ranges come from `--service-cluster-ip-range`. IPAddress and ServiceCIDR
 * objects are not used.
 */
import { contains, formatCidr, formatIp, type Ip, type IpFamily, parseIp } from '../../api/ip.ts'
import { type ClusterIps, IpError, type Parent } from './cluster-ips.ts'
import { type IpRecord, lastOf, offsetOf } from './ip-records.ts'
import { type NumberSet, PortError } from './number-set.ts'
import { UnrepairedError } from './range-record.ts'

type TakeOptions = { readonly isDryRun: boolean }

export class RecordedIps implements Pick<ClusterIps, 'take' | 'takeAny' | 'release'> {
  readonly #records: readonly IpRecord[]

  /** `records` has one record for each IP family of the cluster. */
  constructor(records: readonly IpRecord[]) {
    this.#records = records
  }

  /**
   * Allocates the given address. As in kube-apiserver, a dry run does not check whether the address
   * is free. Fails with an IpError if the address cannot be allocated.
   */
  async take(text: string, _parent: Parent, { isDryRun }: TakeOptions): Promise<void> {
    const ip = parseIp(text)
    const place = this.#records.find(({ cidr }) => cidr.family === ip?.family)
    if (ip === undefined || place === undefined)
      throw new IpError('the provided network does not match the current range')
    if (!isIn(place, ip)) {
      const valid = `The range of valid IPs is ${formatCidr(place.cidr)}`
      throw new IpError(`the provided IP (${formatIp(ip)}) is not in the valid range. ${valid}`)
    }
    if (isDryRun) return
    const number = offsetOf(place.cidr, ip)
    await changed(place, (set) => {
      if (set.has(number)) throw new IpError('provided IP is already allocated')
      set.add(number)
    })
  }

  /**
   * Allocates any free address of the IP family. As in kube-apiserver, a dry run returns the
   * network address. Fails with an IpError if no address can be allocated.
   */
  async takeAny(family: IpFamily, _parent: Parent, { isDryRun }: TakeOptions): Promise<string> {
    const place = this.#records.find(({ cidr }) => cidr.family === family)
    if (place === undefined) throw new IpError('range is full')
    const { first } = place.cidr
    if (isDryRun) return formatIp({ family, value: first })
    const number = await changed(place, (set) => set.takeAny())
    return formatIp({ family, value: first + 1n + BigInt(number) })
  }

  async release(text: string, _parent: Parent): Promise<void> {
    const ip = parseIp(text)
    const place = ip && this.#records.find((one) => isIn(one, ip))
    if (ip === undefined || place === undefined) return
    await place.record.change((set) => set.release(offsetOf(place.cidr, ip)))
  }
}

/** Changes a record. Fails with an IpError if no address can be allocated. */
async function changed<T>({ record }: IpRecord, change: (set: NumberSet) => T): Promise<T> {
  try {
    return await record.change(change)
  } catch (error) {
    throw error instanceof PortError || error instanceof UnrepairedError
      ? new IpError(error.message)
      : error
  }
}

/**
 * Whether the record has a position for an address. The network address and the broadcast address
 * have no position.
 */
const isIn = ({ cidr }: IpRecord, ip: Ip): boolean =>
  contains(cidr, ip) && ip.value > cidr.first && offsetOf(cidr, ip) <= lastOf(cidr)
