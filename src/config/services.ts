/** Reads the flags for the cluster IPs and node ports of Services. */
import { type Cidr, cidrOf, formatCidr, parseCidr } from '../api/ip.ts'
import type { FeatureGates } from './feature-gates.ts'
import type { Values } from './values.ts'

export type ServicesConfig = {
  /**
   * The CIDRs of cluster IPs, one for each IP family of the cluster. The primary family comes
   * first.
   */
  readonly ranges: readonly Cidr[]
  /**
   * Where allocated addresses are recorded: in IPAddress objects, in the bitmaps that older servers
   * use (`records`), or in both.
   */
  readonly addressesIn: 'objects' | 'objects and records' | 'records'
  readonly nodePorts: { readonly first: number; readonly last: number }
  /**
   * How stopped servers are removed from the endpoints of the Service default/kubernetes: with
   * leases (`lease`). With `none`, no server maintains these endpoints.
   */
  readonly endpoints: 'lease' | 'none'
  /** The node port of the Service default/kubernetes. 0 means that it has no node port. */
  readonly ownNodePort: number
}

/** The default range of kube-apiserver. */
const defaultRange = '10.0.0.0/24'
/**
 * Minimum number of host bits in a range. Such a range has room for the network address, the
 * broadcast address, the Service kubernetes, and some addresses for other Services.
 */
const HOST_BITS_MIN = 3
/**
 * Maximum number of host bits in a range that is recorded in a bitmap. Such a range has a million
 * addresses.
 */
const RECORDED_HOST_BITS_MAX = 20
const PORT_MAX = 65_535

/**
 * Reads the flags. `address` is the address of this server for the endpoints of default/kubernetes,
 * or empty if it is not known yet.
 */
export function readServices(
  values: Values,
  { gates, address }: { readonly gates: FeatureGates; readonly address: string },
): ServicesConfig {
  const addressesIn = addressesBy(gates)
  const hostBitsMax = addressesIn === 'objects' ? Infinity : RECORDED_HOST_BITS_MAX
  const ranges = readRanges(values, hostBitsMax)
  const nodePorts = readNodePorts(values)
  const endpoints = readEndpoints(values)
  checkFamily(values, ranges[0], endpoints === 'none' ? '' : address)
  return {
    ranges,
    addressesIn,
    nodePorts,
    endpoints,
    ownNodePort: readOwnNodePort(values, nodePorts),
  }
}

function checkFamily(values: Values, range: Cidr | undefined, address: string): void {
  if (address === '' || range === undefined || (range.family === 'IPv6') === address.includes(':'))
    return
  const what = `service IP family ${JSON.stringify(formatCidr(range))}`
  values.fault(`${what} must match public address family ${JSON.stringify(address)}`)
}

function readOwnNodePort(values: Values, { first, last }: ServicesConfig['nodePorts']): number {
  const port = values.integer('kubernetes-service-node-port')
  if (port < 0 || port > PORT_MAX) {
    const why = 'If 0, the Kubernetes master service will be of type ClusterIP'
    values.fault(
      `--kubernetes-service-node-port ${port} must be between 0 and ${PORT_MAX}, inclusive. ${why}`,
    )
  }
  if (port > 0 && (port < first || port > last)) {
    values.fault(`kubernetes service node port range ${first}-${last} doesn't contain ${port}`)
  }
  return port
}

function addressesBy(gates: FeatureGates): ServicesConfig['addressesIn'] {
  if (!gates.isOn('MultiCIDRServiceAllocator')) return 'records'
  return gates.isOn('DisableAllocatorDualWrite') ? 'objects' : 'objects and records'
}

function readRanges(values: Values, hostBitsMax: number): Cidr[] {
  const texts = (values.string('service-cluster-ip-range') || defaultRange).split(',')
  if (texts.length > 2)
    values.fault('--service-cluster-ip-range must not contain more than two entries')
  const ranges = texts
    .slice(0, 2)
    .flatMap((text, at) => readRange(text, at, { values, hostBitsMax }))
  const [first, second] = ranges
  if (first !== undefined && first.family === second?.family) {
    values.fault(
      '--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family',
    )
  }
  return ranges
}

function readRange(
  text: string,
  at: number,
  { values, hostBitsMax }: { readonly values: Values; readonly hostBitsMax: number },
): Cidr[] {
  const range = parseCidr(text)
  if (range === undefined) {
    values.fault(
      `service-cluster-ip-range[${at}] is not ${at === 0 ? 'a valid cidr' : 'an ip net'}`,
    )
    return []
  }
  const bits = range.family === 'IPv4' ? 32 : 128
  const hostBits = bits - range.prefixBits
  if (hostBits > hostBitsMax) {
    const flag = `--service-cluster-ip-range${at === 0 ? '' : `[${at}]`}`
    values.fault(
      `specified ${flag} is too large; for ${bits}-bit addresses, the mask must be >= ${bits - hostBitsMax}`,
    )
  }
  if (hostBits < HOST_BITS_MIN) {
    const which = at === 0 ? 'primary' : 'secondary'
    const why = `the service cluster IP range must be at least ${2 ** HOST_BITS_MIN} IP addresses`
    values.fault(`error determining service IP ranges for ${which} service cidr: ${why}`)
  }
  return [cidrOf({ ...range.address, value: range.first }, range.prefixBits)]
}

/** Parses a range such as `30000-32767`, or `30000+100`, which consists of a base and an offset. */
function readNodePorts(values: Values): ServicesConfig['nodePorts'] {
  const text = values.string('service-node-port-range')
  const refuse = (why: string): ServicesConfig['nodePorts'] => {
    values.refuse('service-node-port-range', why)
    return { first: 0, last: 0 }
  }
  const [, low = '', sign = '', high = ''] = /^(\d+)(?:([-+])(\d+))?$/.exec(text.trim()) ?? []
  if (low === '') return refuse(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`)
  const first = Number(low)
  const last = sign === '' ? first : sign === '+' ? first + Number(high) : Number(high)
  if (last > PORT_MAX) return refuse(`the port range cannot be greater than ${PORT_MAX}: ${text}`)
  if (last < first) return refuse(`end port cannot be less than start port: ${text}`)
  return { first, last }
}

function readEndpoints(values: Values): ServicesConfig['endpoints'] {
  const type = values.string('endpoint-reconciler-type')
  // The type master-count is treated like lease. With master-count, kube-apiserver expects a fixed
  // number of API servers and removes the endpoints that exceed this number. Leases remove the
  // endpoints of stopped servers sooner.
  if (!/^(lease|none|master-count)$/.test(type)) {
    values.fault(
      `Reconciler not implemented: ${type}`,
      'use --endpoint-reconciler-type=lease or none',
    )
  }
  return type === 'none' ? 'none' : 'lease'
}
