/** The flags for the addresses and ports of Services. */
import { type Cidr, cidrOf, parseCidr } from '../api/ip.ts'
import type { FeatureGates } from './feature-gates.ts'
import type { Values } from './values.ts'

export type ServicesConfig = {
  /** The service CIDRs, one for each IP family of the cluster, the primary one first. */
  readonly ranges: readonly Cidr[]
  /** Where allocated addresses are recorded: as IPAddress objects, in the bitmaps of older servers, or both. */
  readonly addressesIn: 'objects' | 'objects and records' | 'records'
  readonly nodePorts: { readonly first: number; readonly last: number }
  /** How the endpoints of the service default/kubernetes are maintained. */
  readonly endpoints: 'lease' | 'none'
}

/** As upstream. */
const defaultRange = '10.0.0.0/24'
/** The network address, the broadcast address, the service kubernetes, and some to allocate. */
const HOST_BITS_MIN = 3
/** A million addresses: a bitmap has one bit for each. */
const RECORDED_HOST_BITS_MAX = 20
const PORT_MAX = 65_535

export function readServices(values: Values, gates: FeatureGates): ServicesConfig {
  const addressesIn = addressesBy(gates)
  const hostBitsMax = addressesIn === 'objects' ? Infinity : RECORDED_HOST_BITS_MAX
  return {
    ranges: readRanges(values, hostBitsMax),
    addressesIn,
    nodePorts: readNodePorts(values),
    endpoints: readEndpoints(values),
  }
}

function addressesBy(gates: FeatureGates): ServicesConfig['addressesIn'] {
  if (!gates.isOn('MultiCIDRServiceAllocator')) return 'records'
  return gates.isOn('DisableAllocatorDualWrite') ? 'objects' : 'objects and records'
}

function readRanges(values: Values, hostBitsMax: number): Cidr[] {
  const texts = (values.string('service-cluster-ip-range') || defaultRange).split(',')
  if (texts.length > 2) values.fault('--service-cluster-ip-range must not contain more than two entries')
  const ranges = texts.slice(0, 2).flatMap((text, at) => readRange(text, at, { values, hostBitsMax }))
  const [first, second] = ranges
  if (first !== undefined && first.family === second?.family) {
    values.fault('--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family')
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
    values.fault(`service-cluster-ip-range[${at}] is not ${at === 0 ? 'a valid cidr' : 'an ip net'}`)
    return []
  }
  const bits = range.family === 'IPv4' ? 32 : 128
  const hostBits = bits - range.prefixBits
  if (hostBits > hostBitsMax) {
    const flag = `--service-cluster-ip-range${at === 0 ? '' : `[${at}]`}`
    values.fault(`specified ${flag} is too large; for ${bits}-bit addresses, the mask must be >= ${bits - hostBitsMax}`)
  }
  if (hostBits < HOST_BITS_MIN) {
    const which = at === 0 ? 'primary' : 'secondary'
    const why = `the service cluster IP range must be at least ${2 ** HOST_BITS_MIN} IP addresses`
    values.fault(`error determining service IP ranges for ${which} service cidr: ${why}`)
  }
  return [cidrOf({ ...range.address, value: range.first }, range.prefixBits)]
}

/** `30000-32767`, or `30000+100`: a base and an offset. */
function readNodePorts(values: Values): ServicesConfig['nodePorts'] {
  const text = values.string('service-node-port-range')
  const refuse = (why: string): ServicesConfig['nodePorts'] => {
    values.fault(`Error: invalid argument ${JSON.stringify(text)} for "--service-node-port-range" flag: ${why}`)
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
  if (type !== 'lease' && type !== 'none') {
    values.fault(`--endpoint-reconciler-type ${JSON.stringify(type)} is not supported: use lease or none`)
  }
  return type === 'none' ? 'none' : 'lease'
}
