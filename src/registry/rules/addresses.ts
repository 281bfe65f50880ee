/**
 * Rules for IP addresses and CIDRs. Older API fields accept any format, and warn about unusual
 * formats. Newer fields accept only the canonical format.
 */
import { type FieldFault, invalidValue } from '../../api/field-fault.ts'
import {
  type Cidr,
  cidrOf,
  formatCidr,
  formatIp,
  type Ip,
  parseCidr,
  parseIp,
} from '../../api/ip.ts'
import { quote } from '../../api/quote.ts'

const notAnIp = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
const notACidr = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'

/** Validates an address in any format. */
export const checkIp = (text: string): string[] => (parseIp(text) === undefined ? [notAnIp] : [])

export const checkCidr = (text: string): string[] =>
  parseCidr(text) === undefined ? [notACidr] : []

/**
 * Validates an address. Refuses formats that some parsers interpret differently. A string that is
 * not an address is accepted, because other rules report it.
 */
export function checkStrictIp(text: string): string[] {
  const ip = parseIp(text)
  if (ip === undefined) return []
  if (ip.isMapped) return ['must not be an IPv4-mapped IPv6 address']
  return ip.family === 'IPv4' && formatIp(ip) !== text ? ['must not have leading 0s'] : []
}

export function checkStrictCidr(text: string): string[] {
  const cidr = parseCidr(text)
  return cidr === undefined ? [] : misread(cidr, text)
}

/** Returns an error if different parsers can interpret the CIDR in different ways. */
function misread(cidr: Cidr, text: string): string[] {
  if (hasLeadingZeros(text, cidr.address))
    return ['must not have leading 0s in IP or prefix length']
  if (cidr.address.isMapped) return ['must not have an IPv4-mapped IPv6 address']
  return cidr.address.value === cidr.first
    ? []
    : ['must not have bits set beyond the prefix length']
}

/** Validates an address, which must be in canonical format. */
export function checkCanonicalIp(text: string): string[] {
  const ip = parseIp(text)
  if (ip === undefined) return [notAnIp]
  if (ip.isMapped) return ['must not be an IPv4-mapped IPv6 address']
  const canonical = formatIp(ip)
  if (canonical === text) return []
  return [
    ip.family === 'IPv4'
      ? 'must not have leading 0s'
      : `must be in canonical form (${quote(canonical)})`,
  ]
}

/** Validates a CIDR, which must be in canonical format. */
export function checkCanonicalCidr(text: string): string[] {
  const cidr = parseCidr(text)
  if (cidr === undefined) return [notACidr]
  const faults = misread(cidr, text)
  if (faults.length > 0) return faults
  const canonical = formatCidr(cidr)
  return canonical === text ? [] : [`must be in canonical form (${quote(canonical)})`]
}

/**
 * Validates an address with a prefix length, which must be in canonical format. Host bits can be
 * set.
 */
export function checkInterfaceAddress(text: string): string[] {
  const cidr = parseCidr(text)
  if (cidr === undefined)
    return ['must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)']
  const canonical = `${formatIp(cidr.address)}/${cidr.prefixBits}`
  return canonical === text ? [] : [`must be in canonical form (${quote(canonical)})`]
}

/** Whether an address or a CIDR has leading zeros. Newer parsers in Go refuse them. */
const hasLeadingZeros = (text: string, { family, isMapped }: Ip): boolean =>
  /\/0[0-9]/.test(text) || (family === 'IPv4' && !isMapped && /(^|\.)0[0-9]/.test(text))

const reserved: readonly (readonly [Cidr | undefined, string])[] = [
  ['127.0.0.0/8', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ['::1/128', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ['169.254.0.0/16', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  ['fe80::/10', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  ['224.0.0.0/24', 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
  ['ff02::/16', 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
].map(([text = '', why = '']) => [parseCidr(text), why])

/**
 * Validates an address to which traffic can be sent. A string that is not an address is reported
 * here a second time, with a shorter message, as in kube-apiserver.
 */
export function validateTarget(path: string, text: string): FieldFault[] {
  const ip = parseIp(text)
  if (ip === undefined) return [invalidValue(path, text, 'must be a valid IP address')]
  const faults = reserved
    .filter(
      ([range]) => range?.family === ip.family && ip.value >= range.first && ip.value <= range.last,
    )
    .map(([, why]) => invalidValue(path, text, why))
  return ip.value === 0n
    ? [invalidValue(path, text, `may not be unspecified (${text})`), ...faults]
    : faults
}

/** Warns about an address that is not in canonical format. */
export function warnOfIp(path: string, text: string): string[] {
  const ip = parseIp(text)
  if (ip === undefined) return []
  const canonical = formatIp(ip)
  if (canonical === text) return []
  if (ip.family === 'IPv4') return [nonStandard(path, `IP address ${quote(text)}`, canonical)]
  return [
    `${path}: IPv6 address ${quote(text)} should be in RFC 5952 canonical format (${quote(canonical)})`,
  ]
}

/** Warns about a CIDR that is not in canonical format or is ambiguous. */
export function warnOfCidr(path: string, text: string): string[] {
  const cidr = parseCidr(text)
  if (cidr === undefined) return []
  const canonical = formatCidr(cidr)
  if (cidr.address.isMapped || hasLeadingZeros(text, cidr.address)) {
    return [nonStandard(path, `CIDR value ${quote(text)}`, canonical)]
  }
  if (cidr.address.value !== cidr.first) {
    const single = formatCidr(cidrOf(cidr.address, cidr.family === 'IPv4' ? 32 : 128))
    const either = `(should be ${quote(canonical)} or ${quote(single)}?)`
    return [`${path}: CIDR value ${quote(text)} is ambiguous in this context ${either}`]
  }
  if (canonical === text) return []
  return [
    `${path}: IPv6 CIDR value ${quote(text)} should be in RFC 5952 canonical format (${quote(canonical)})`,
  ]
}

const nonStandard = (path: string, what: string, canonical: string): string =>
  `${path}: non-standard ${what} will be considered invalid in a future Kubernetes release: use ${quote(canonical)}`
