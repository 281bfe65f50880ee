/** Addresses and blocks of addresses: one spelling each, so leading zeros, zones and IPv4 inside of IPv6 are refused. */
import { type Cidr, cidrOf, contains, formatIp, type Ip, parseCidr, parseIp } from '../../api/ip.ts'
import { quote } from '../../api/quote.ts'
import { sizeOf, TEXT_FACTOR, traversal } from '../cost.ts'
import type { Library } from '../environment.ts'
import { type Estimate, type FunctionPart, global, member, type RunCost } from '../functions.ts'
import { fixed, plus, scaled, unknownSize } from '../ranges.ts'
import { bool, int, opaque, string } from '../types.ts'
import { addressFault } from './ip-fault.ts'
import { CelError, noSuchOverload, type Opaque, type Result, type Value } from '../values.ts'

class IpValue implements Opaque {
  readonly typeName = 'net.IP'
  readonly ip: Ip

  constructor(ip: Ip) {
    this.ip = ip
  }

  isSame(other: Opaque): boolean {
    return other instanceof IpValue && other.ip.family === this.ip.family && other.ip.value === this.ip.value
  }
}

class CidrValue implements Opaque {
  readonly typeName = 'net.CIDR'
  readonly cidr: Cidr

  constructor(cidr: Cidr) {
    this.cidr = cidr
  }

  isSame(other: Opaque): boolean {
    if (!(other instanceof CidrValue)) return false
    const { address, prefixBits, family } = other.cidr
    return (
      family === this.cidr.family && prefixBits === this.cidr.prefixBits && address.value === this.cidr.address.value
    )
  }
}

const ipType = opaque('net.IP')
const cidrType = opaque('net.CIDR')

type Parsed<T> = T | CelError

function readIp(text: string): Parsed<IpValue> {
  const refuse = (why: string): CelError =>
    new CelError(`IP Address ${quote(text)} parse error during conversion from string: ${why}`)
  const fault = addressFault(text)
  if (fault !== undefined) return refuse(fault)
  if (text.includes('%')) return new CelError(`IP address ${quote(text)} with zone value is not allowed`)
  const ip = parseIp(text)
  if (ip === undefined) return refuse(`ParseAddr(${quote(text)}): unable to parse IP`)
  if (ip.isMapped) return new CelError(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`)
  return new IpValue(ip)
}

const refuseBlock = (why: string): CelError =>
  new CelError(`network address parse error during conversion from string: ${why}`)

function readCidr(text: string): Parsed<CidrValue> {
  const again = (why: string): CelError =>
    refuseBlock(`network address parse error during conversion from string: netip.ParsePrefix(${quote(text)}): ${why}`)
  const slash = text.lastIndexOf('/')
  if (slash === -1) return again("no '/'")
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)]
  const fault = addressFault(address)
  if (fault !== undefined) return again(fault)
  if (address.includes('%')) return again('IPv6 zones cannot be present in a prefix')
  const ip = parseIp(address)
  if (ip === undefined) return again(`ParseAddr(${quote(address)}): unable to parse IP`)
  // A number that has no room in 64 bits is none to Go.
  if (!/^(?:0|[1-9][0-9]{0,18})$/.test(bits) || BigInt(bits) >> 63n !== 0n)
    return again(`bad bits after slash: ${quote(bits)}`)
  const most = ip.family === 'IPv4' && !ip.isMapped ? 32 : 128
  if (bits.length > 3 || Number(bits) > most) return again('prefix length out of range')
  if (ip.isMapped) return refuseBlock(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`)
  const cidr = parseCidr(text)
  return cidr === undefined ? again('prefix length out of range') : new CidrValue(cidr)
}

const formatGiven = ({ address, prefixBits }: Cidr): string => `${formatIp(address)}/${prefixBits}`

const parsing: Estimate = (operands, overload) =>
  overload === 'cidr_ip' ? { cost: fixed(1) } : { cost: scaled(operands[0]?.size ?? unknownSize, TEXT_FACTOR) }
const parsingCost: RunCost = ([text = null], _, overload) => (overload === 'cidr_ip' ? 1 : traversal(sizeOf(text)))
const costs = { estimate: parsing, cost: parsingCost }

const fromText =
  (run: (text: string) => Result): FunctionPart['run'] =>
  (text) =>
    typeof text === 'string' ? run(text) : noSuchOverload

const onIp = (name: string, run: (ip: Ip) => Result, result = bool): FunctionPart => ({
  name,
  overloads: [member(`ip_${name}`, [ipType], result)],
  run: (value) => (value instanceof IpValue ? run(value.ip) : noSuchOverload),
})

/** Whether the address is in a block of its family. */
const inBlock = (ip: Ip, v4: string | undefined, v6: string | undefined): boolean => {
  const block = ip.family === 'IPv4' ? v4 : v6
  const cidr = block === undefined ? undefined : parseCidr(block)
  return cidr !== undefined && contains(cidr, ip)
}

const isUnspecified = (ip: Ip): boolean => ip.value === 0n
const isMulticast = (ip: Ip): boolean => inBlock(ip, '224.0.0.0/4', 'ff00::/8')
const isLoopback = (ip: Ip): boolean => inBlock(ip, '127.0.0.0/8', '::1/128')
const isLinkLocalUnicast = (ip: Ip): boolean => inBlock(ip, '169.254.0.0/16', 'fe80::/10')
const isGlobalUnicast = (ip: Ip): boolean =>
  !isUnspecified(ip) &&
  !isLoopback(ip) &&
  !isMulticast(ip) &&
  !isLinkLocalUnicast(ip) &&
  !inBlock(ip, '255.255.255.255/32', undefined)

const addresses: readonly FunctionPart[] = [
  {
    name: 'ip',
    overloads: [global('string_to_ip', [string], ipType), member('cidr_ip', [cidrType], ipType)],
    run: (value) => {
      if (value instanceof CidrValue) return new IpValue(value.cidr.address)
      return typeof value === 'string' ? readIp(value) : noSuchOverload
    },
    ...costs,
  },
  {
    name: 'isIP',
    overloads: [global('is_ip', [string], bool)],
    // What is no address quotes the text, which takes long where that is long: nobody sees it here.
    run: fromText((text) => parseIp(text) !== undefined && !(readIp(text) instanceof CelError)),
    ...costs,
  },
  {
    name: 'ip.isCanonical',
    overloads: [global('ip_is_canonical', [string], bool)],
    run: fromText((text) => {
      const ip = readIp(text)
      return ip instanceof CelError ? ip : formatIp(ip.ip) === text
    }),
    estimate: (operands) => ({ cost: scaled(operands[0]?.size ?? unknownSize, 2 * TEXT_FACTOR) }),
    cost: ([text = null]) => traversal(sizeOf(text), 2 * TEXT_FACTOR),
  },
  {
    name: 'string',
    overloads: [global('ip_to_string', [ipType], string), global('cidr_to_string', [cidrType], string)],
    run: (value) => {
      if (value instanceof IpValue) return formatIp(value.ip)
      return value instanceof CidrValue ? formatGiven(value.cidr) : noSuchOverload
    },
  },
  onIp('family', (ip) => (ip.family === 'IPv4' ? 4n : 6n), int),
  onIp('isUnspecified', isUnspecified),
  onIp('isLoopback', isLoopback),
  onIp('isLinkLocalMulticast', (ip) => inBlock(ip, '224.0.0.0/24', 'ff02::/16')),
  onIp('isLinkLocalUnicast', isLinkLocalUnicast),
  onIp('isGlobalUnicast', isGlobalUnicast),
]

/** Two addresses of up to 16 bytes are compared. */
const COMPARED = scaled({ min: 8, max: 32 }, TEXT_FACTOR)
/** The block is masked, and its length compared. */
const MASKED = plus(scaled({ min: 4, max: 16 }, TEXT_FACTOR), fixed(1))

const containing =
  (isBlock: boolean): Estimate =>
  (operands, overload) => {
    const own = isBlock ? plus(COMPARED, MASKED) : COMPARED
    return {
      cost: overload.endsWith('string') ? plus(own, scaled(operands[1]?.size ?? unknownSize, TEXT_FACTOR)) : own,
    }
  }

const containingCost =
  (isBlock: boolean): RunCost =>
  ([block = null, other = null]) => {
    const bytes = block instanceof CidrValue && block.cidr.family === 'IPv4' ? 4 : 16
    const own = traversal(2 * bytes) + (isBlock ? traversal(bytes) + 1 : 0)
    return typeof other === 'string' ? own + traversal(sizeOf(other)) : own
  }

function containsIp(block: Value, given: Value): Result {
  const ip = typeof given === 'string' ? readIp(given) : given
  // The reference does not say what is wrong with the text here.
  if (!(block instanceof CidrValue && ip instanceof IpValue)) return noSuchOverload
  return contains(block.cidr, ip.ip)
}

function containsCidr(block: Value, given: Value): Result {
  const other = typeof given === 'string' ? readCidr(given) : given
  if (other instanceof CelError) return other
  if (!(block instanceof CidrValue && other instanceof CidrValue)) return noSuchOverload
  return other.cidr.prefixBits >= block.cidr.prefixBits && contains(block.cidr, other.cidr.address)
}

const blocks: readonly FunctionPart[] = [
  { name: 'cidr', overloads: [global('string_to_cidr', [string], cidrType)], run: fromText(readCidr), ...costs },
  {
    name: 'isCIDR',
    overloads: [global('is_cidr', [string], bool)],
    run: fromText((text) => !(readCidr(text) instanceof CelError)),
    ...costs,
  },
  {
    name: 'containsIP',
    overloads: [
      member('cidr_contains_ip_string', [cidrType, string], bool),
      member('cidr_contains_ip_ip', [cidrType, ipType], bool),
    ],
    run: containsIp,
    estimate: containing(false),
    cost: containingCost(false),
  },
  {
    name: 'containsCIDR',
    overloads: [
      member('cidr_contains_cidr_string', [cidrType, string], bool),
      member('cidr_contains_cidr', [cidrType, cidrType], bool),
    ],
    run: containsCidr,
    estimate: containing(true),
    cost: containingCost(true),
  },
  {
    name: 'masked',
    overloads: [member('cidr_masked', [cidrType], cidrType)],
    run: (value) => {
      if (!(value instanceof CidrValue)) return noSuchOverload
      const { family, first, prefixBits } = value.cidr
      return new CidrValue(cidrOf({ family, value: first, isMapped: false }, prefixBits))
    },
  },
  {
    name: 'prefixLength',
    overloads: [member('cidr_prefix_length', [cidrType], int)],
    run: (value) => (value instanceof CidrValue ? BigInt(value.cidr.prefixBits) : noSuchOverload),
  },
]

export const ipLibrary: Library = {
  functions: [...addresses, ...blocks],
  types: [ipType, cidrType],
}
