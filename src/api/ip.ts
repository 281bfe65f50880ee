/**
 * IP addresses and CIDRs as numbers. For compatibility with old clients, parsing is as lenient as
 * in kube-apiserver (leading zeros, IPv4-mapped IPv6). To accept only the canonical form, callers
 * compare the input with the result of `formatIp` or `formatCidr`, which follow RFC 5952.
 */

export type IpFamily = 'IPv4' | 'IPv6'

export type Ip = {
  readonly family: IpFamily
  readonly value: bigint
  /**
   * Whether the address is an IPv4-mapped IPv6 address, such as `::ffff:10.0.0.1`, which is treated
   * as IPv4.
   */
  readonly isMapped: boolean
}

export type Cidr = {
  readonly family: IpFamily
  /** The address before the slash, which can have host bits set. */
  readonly address: Ip
  /** First and last address of the range. */
  readonly first: bigint
  readonly last: bigint
  readonly prefixBits: number
}

const ADDRESS_BITS: { readonly [family in IpFamily]: number } = { IPv4: 32, IPv6: 128 }
/** Prefix of IPv4-mapped IPv6 addresses. */
const MAPPED_PREFIX = 0xffffn << 32n
const MAPPED_PREFIX_BITS = 96
/** Number of groups of 16 bits in an IPv6 address. */
const GROUPS = 8
/**
 * Maximum length of an address. Only an address with superfluous zeros can be longer. The limit
 * bounds the cost of parsing hostile input.
 */
const TEXT_CHARACTERS_MAX = 64

/** Parses an address. Undefined if the string is not an address. */
export function parseIp(text: string): Ip | undefined {
  if (text.length > TEXT_CHARACTERS_MAX) return undefined
  if (text.includes(':')) return parseIpv6(text)
  const value = parseIpv4(text)
  return value === undefined ? undefined : { family: 'IPv4', value, isMapped: false }
}

/**
 * Parses a CIDR such as `10.0.0.0/8`, in which host bits can be set. Returns undefined if the
 * string is not a CIDR.
 */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/')
  if (slash === -1) return undefined
  const address = parseIp(text.slice(0, slash))
  const digits = text.slice(slash + 1)
  if (address === undefined || !/^[0-9]{1,4}$/.test(digits)) return undefined
  const bits = ADDRESS_BITS[address.family]
  const prefixBits = Number(digits) - (address.isMapped ? MAPPED_PREFIX_BITS : 0)
  if (prefixBits < 0 || prefixBits > bits) return undefined
  return cidrOf(address, prefixBits)
}

/** Returns the CIDR of all addresses that share the first `prefixBits` bits of the address. */
export function cidrOf(address: Ip, prefixBits: number): Cidr {
  const hostBits = BigInt(ADDRESS_BITS[address.family] - prefixBits)
  const first = (address.value >> hostBits) << hostBits
  const last = first + (1n << hostBits) - 1n
  return { family: address.family, address, first, last, prefixBits }
}

export const contains = (cidr: Cidr, { family, value }: Pick<Ip, 'family' | 'value'>): boolean =>
  cidr.family === family && value >= cidr.first && value <= cidr.last

/**
 * Returns whether an address is global unicast, like Go's IsGlobalUnicast: not unspecified,
 * loopback, link-local, multicast or broadcast. False if the string is not an address.
 */
export function isGlobalUnicast(text: string): boolean {
  const ip = parseIp(text)
  return ip !== undefined && !notGlobal.some((range) => contains(range, ip))
}

/** Formats an address in canonical form. An IPv4-mapped address is formatted as IPv4. */
export function formatIp({ family, value }: Pick<Ip, 'family' | 'value'>): string {
  if (family === 'IPv4')
    return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.')
  const groups = Array.from({ length: 8 }, (_, at) =>
    ((value >> BigInt(112 - 16 * at)) & 0xffffn).toString(16),
  )
  const zeros = longestZeros(groups)
  if (zeros === undefined) return groups.join(':')
  return `${groups.slice(0, zeros.from).join(':')}::${groups.slice(zeros.to).join(':')}`
}

/** Formats a CIDR in canonical form, with host bits cleared. */
export const formatCidr = ({ family, first, prefixBits }: Cidr): string =>
  `${formatIp({ family, value: first })}/${prefixBits}`

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^[0-9]+$/.test(part) && Number(part) <= 255))
    return undefined
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n)
}

/**
 * Parses an IPv6 address. This does not use `isIPv6` of node:net, because compiling its regular
 * expression would delay startup by 5 ms.
 */
function parseIpv6(text: string): Ip | undefined {
  const [head = '', tail, ...more] = ipv4AsGroups(text).split('::')
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  if (before === undefined || after === undefined || more.length > 0) return undefined
  const zeros = GROUPS - before.length - after.length
  // The `::` must replace at least one group.
  if (tail === undefined ? zeros !== 0 : zeros < 1) return undefined
  const groups = [...before, ...Array.from({ length: zeros }, () => 0n), ...after]
  const value = groups.reduce((sum, group) => (sum << 16n) | group, 0n)
  const isMapped = value >> 32n === MAPPED_PREFIX >> 32n
  return isMapped
    ? { family: 'IPv4', value: value - MAPPED_PREFIX, isMapped }
    : { family: 'IPv6', value, isMapped }
}

/**
 * Rewrites a trailing dotted IPv4 address as two hexadecimal groups. An address with leading zeros
 * is left unchanged.
 */
function ipv4AsGroups(text: string): string {
  const at = text.lastIndexOf(':') + 1
  const last = text.slice(at)
  const value = /(?:^|\.)0[0-9]/.test(last) ? undefined : parseIpv4(last)
  return value === undefined
    ? text
    : `${text.slice(0, at)}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`
}

/** Parses the groups. Undefined if one of them is invalid. */
function groupsOf(text: string): bigint[] | undefined {
  const groups = text === '' ? [] : text.split(':')
  return groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))
    ? groups.map((group) => BigInt(`0x${group}`))
    : undefined
}

/**
 * Returns the zero groups that `::` replaces: the first of the longest runs that have at least two
 * groups.
 */
function longestZeros(
  groups: readonly string[],
): { readonly from: number; readonly to: number } | undefined {
  let best: { from: number; to: number } | undefined
  for (let from = 0; from < groups.length; from++) {
    let to = from
    while (groups[to] === '0') to++
    if (to - from >= 2 && to - from > (best === undefined ? 0 : best.to - best.from))
      best = { from, to }
    from = Math.max(from, to - 1)
  }
  return best
}

/**
 * Ranges that are not global unicast. They are declared at the end of the file, because parseCidr
 * uses the constants above at import time.
 */
const notGlobal: readonly Cidr[] = [
  ...['0.0.0.0/32', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '255.255.255.255/32'],
  ...['::/128', '::1/128', 'fe80::/10', 'ff00::/8'],
].flatMap((text) => parseCidr(text) ?? [])
