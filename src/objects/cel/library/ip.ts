/**
 * IP addresses and CIDR blocks. Addresses with zones, IPv4-mapped IPv6 addresses, and octets with
 * leading zeros are errors.
 */
import {
  type Cidr,
  cidrOf,
  contains,
  formatIp,
  type Ip,
  parseCidr,
  parseIp,
} from '../../../api/ip.ts'
import { quote } from '../../../api/quote.ts'
import { sizeOf, TEXT_FACTOR, traversal } from '../cost.ts'
import type { Library } from '../environment.ts'
import {
  type Estimate,
  type FunctionPart,
  global,
  type Meter,
  member,
  type RunCost,
} from '../functions.ts'
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
    return (
      other instanceof IpValue &&
      other.ip.family === this.ip.family &&
      other.ip.value === this.ip.value
    )
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
      family === this.cidr.family &&
      prefixBits === this.cidr.prefixBits &&
      address.value === this.cidr.address.value
    )
  }
}

const ipType = opaque('net.IP')
const cidrType = opaque('net.CIDR')

/**
 * The error for an invalid text. Its message quotes the text, which takes long for a long text. So
 * the message is created only when it is needed.
 */
type ParseFault = { readonly fault: () => string }

function readIp(text: string): IpValue | ParseFault {
  const refuse = (why: (quoted: string) => string): ParseFault => ({
    fault: () => {
      const quoted = quote(text)
      return `IP Address ${quoted} parse error during conversion from string: ${why(quoted)}`
    },
  })
  const why = addressFault(text)
  if (why !== undefined) return refuse(why)
  if (text.includes('%'))
    return { fault: () => `IP address ${quote(text)} with zone value is not allowed` }
  const ip = parseIp(text)
  if (ip === undefined) return refuse((quoted) => `ParseAddr(${quoted}): unable to parse IP`)
  if (ip.isMapped) return { fault: () => `IPv4-mapped IPv6 address ${quote(text)} is not allowed` }
  return new IpValue(ip)
}

const refuseBlock = (why: () => string): ParseFault => ({
  fault: () => `network address parse error during conversion from string: ${why()}`,
})

function readCidr(text: string): CidrValue | ParseFault {
  const again = (why: () => string): ParseFault =>
    refuseBlock(
      () =>
        `network address parse error during conversion from string: netip.ParsePrefix(${quote(text)}): ${why()}`,
    )
  const slash = text.lastIndexOf('/')
  if (slash === -1) return again(() => "no '/'")
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)]
  const why = addressFault(address)
  if (why !== undefined) return again(() => why(quote(address)))
  if (address.includes('%')) return again(() => 'IPv6 zones cannot be present in a prefix')
  const ip = parseIp(address)
  if (ip === undefined) return again(() => `ParseAddr(${quote(address)}): unable to parse IP`)
  // Go's parser refuses numbers that do not fit into an int64.
  if (!/^(?:0|[1-9][0-9]{0,18})$/.test(bits) || BigInt(bits) >> 63n !== 0n)
    return again(() => `bad bits after slash: ${quote(bits)}`)
  const most = ip.family === 'IPv4' && !ip.isMapped ? 32 : 128
  if (bits.length > 3 || Number(bits) > most) return again(() => 'prefix length out of range')
  if (ip.isMapped)
    return refuseBlock(() => `IPv4-mapped IPv6 address ${quote(text)} is not allowed`)
  const cidr = parseCidr(text)
  return cidr === undefined ? again(() => 'prefix length out of range') : new CidrValue(cidr)
}

/** Estimated time to parse an address. */
const ADDRESS_NANOS = 3_000
/** Estimated time per character of a text that an error message quotes three times. */
const QUOTED_CHARACTER_NANOS = 110

function orCelError(read: IpValue | CidrValue | ParseFault, text: string, meter: Meter): Result {
  if (!('fault' in read)) return read
  meter.work(text.length * QUOTED_CHARACTER_NANOS)
  return new CelError(read.fault())
}

const formatGiven = ({ address, prefixBits }: Cidr): string => `${formatIp(address)}/${prefixBits}`

const parsing: Estimate = (operands, overload) =>
  overload === 'cidr_ip'
    ? { cost: fixed(1) }
    : { cost: scaled(operands[0]?.size ?? unknownSize, TEXT_FACTOR) }
const parsingCost: RunCost = ([text = null], _, overload) =>
  overload === 'cidr_ip' ? 1 : traversal(sizeOf(text))
const reading = { estimate: parsing, cost: parsingCost, isLong: true }

const fromText =
  (run: (text: string, meter: Meter) => Result): FunctionPart['run'] =>
  (text, _, __, ___, meter) => {
    if (typeof text !== 'string') return noSuchOverload
    meter.last(ADDRESS_NANOS)
    return run(text, meter)
  }

const onIp = (name: string, run: (ip: Ip) => Result, result = bool): FunctionPart => ({
  name,
  overloads: [member(`ip_${name}`, [ipType], result)],
  run: (value) => (value instanceof IpValue ? run(value.ip) : noSuchOverload),
})

/**
 * Returns a predicate for addresses in the given blocks. The blocks are parsed on first use,
 * because the pattern for IPv6 addresses takes milliseconds to compile.
 */
function inBlocks(...texts: readonly string[]): (ip: Ip) => boolean {
  let cidrs: readonly Cidr[] | undefined
  return (ip) => {
    cidrs ??= texts.flatMap((text) => parseCidr(text) ?? [])
    return cidrs.some((cidr) => contains(cidr, ip))
  }
}

const isUnspecified = (ip: Ip): boolean => ip.value === 0n
const isMulticast = inBlocks('224.0.0.0/4', 'ff00::/8')
const isLoopback = inBlocks('127.0.0.0/8', '::1/128')
const isLinkLocalUnicast = inBlocks('169.254.0.0/16', 'fe80::/10')
const isBroadcast = inBlocks('255.255.255.255/32')
const isGlobalUnicast = (ip: Ip): boolean =>
  !isUnspecified(ip) &&
  !isLoopback(ip) &&
  !isMulticast(ip) &&
  !isLinkLocalUnicast(ip) &&
  !isBroadcast(ip)

const readAddress = fromText((text, meter) => orCelError(readIp(text), text, meter))

const addresses: readonly FunctionPart[] = [
  {
    name: 'ip',
    overloads: [global('string_to_ip', [string], ipType), member('cidr_ip', [cidrType], ipType)],
    run: (value, ...rest) =>
      value instanceof CidrValue ? new IpValue(value.cidr.address) : readAddress(value, ...rest),
    ...reading,
  },
  {
    name: 'isIP',
    overloads: [global('is_ip', [string], bool)],
    run: fromText((text) => !('fault' in readIp(text))),
    ...reading,
  },
  {
    name: 'ip.isCanonical',
    overloads: [global('ip_is_canonical', [string], bool)],
    isLong: true,
    run: fromText((text, meter) => {
      const read = readIp(text)
      return 'fault' in read ? orCelError(read, text, meter) : formatIp(read.ip) === text
    }),
    estimate: (operands) => ({ cost: scaled(operands[0]?.size ?? unknownSize, 2 * TEXT_FACTOR) }),
    cost: ([text = null]) => traversal(sizeOf(text), 2 * TEXT_FACTOR),
  },
  {
    name: 'string',
    overloads: [
      global('ip_to_string', [ipType], string),
      global('cidr_to_string', [cidrType], string),
    ],
    run: (value) => {
      if (value instanceof IpValue) return formatIp(value.ip)
      return value instanceof CidrValue ? formatGiven(value.cidr) : noSuchOverload
    },
  },
  onIp('family', (ip) => (ip.family === 'IPv4' ? 4n : 6n), int),
  onIp('isUnspecified', isUnspecified),
  onIp('isLoopback', isLoopback),
  onIp('isLinkLocalMulticast', inBlocks('224.0.0.0/24', 'ff02::/16')),
  onIp('isLinkLocalUnicast', isLinkLocalUnicast),
  onIp('isGlobalUnicast', isGlobalUnicast),
]

/** Cost of comparing two addresses, which are up to 16 bytes long. */
const COMPARED = scaled({ min: 8n, max: 32n }, TEXT_FACTOR)
/** Cost of masking a block and comparing its prefix length. */
const MASKED = plus(scaled({ min: 4n, max: 16n }, TEXT_FACTOR), fixed(1))

const containing =
  (isBlock: boolean): Estimate =>
  (operands, overload) => {
    const own = isBlock ? plus(COMPARED, MASKED) : COMPARED
    return {
      cost: overload.endsWith('string')
        ? plus(own, scaled(operands[1]?.size ?? unknownSize, TEXT_FACTOR))
        : own,
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
  // kube-apiserver reports this error even if the cause is an invalid text.
  if (!(block instanceof CidrValue && ip instanceof IpValue)) return noSuchOverload
  return contains(block.cidr, ip.ip)
}

function containsCidr(block: Value, given: Value, meter: Meter): Result {
  const other = typeof given === 'string' ? orCelError(readCidr(given), given, meter) : given
  if (other instanceof CelError) return other
  if (!(block instanceof CidrValue && other instanceof CidrValue)) return noSuchOverload
  return other.cidr.prefixBits >= block.cidr.prefixBits && contains(block.cidr, other.cidr.address)
}

const blocks: readonly FunctionPart[] = [
  {
    name: 'cidr',
    overloads: [global('string_to_cidr', [string], cidrType)],
    run: fromText((text, meter) => orCelError(readCidr(text), text, meter)),
    ...reading,
  },
  {
    name: 'isCIDR',
    overloads: [global('is_cidr', [string], bool)],
    run: fromText((text) => !('fault' in readCidr(text))),
    ...reading,
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
    run: (block, given, _, __, meter) => containsCidr(block, given, meter),
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
