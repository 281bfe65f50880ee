/**
 * Errors about IP addresses. Users see them, so they have the messages of Go's `netip.ParseAddr`.
 */
import { quote } from '../../../api/quote.ts'

type Fault = { readonly what: string; readonly at?: string }

/**
 * Returns undefined if the address is valid, which includes addresses with a zone. Otherwise
 * returns a function that creates the error message. The function gets the quoted text as an
 * argument, because quoting a long text takes a long time.
 */
export function addressFault(text: string): ((quoted: string) => string) | undefined {
  const fault = faultOf(text)
  if (fault === undefined) return undefined
  const { what, at } = fault
  return (quoted) => `ParseAddr(${quoted}): ${what}${at === undefined ? '' : ` (at ${quote(at)})`}`
}

function faultOf(text: string): Fault | undefined {
  const mark = text.search(/[.:%]/)
  if (mark === -1) return { what: 'unable to parse IP' }
  if (text[mark] === '%') return { what: 'missing IPv6 address' }
  return text[mark] === '.' ? ipv4Fault(text) : ipv6Fault(text)
}

function ipv4Fault(text: string): Fault | undefined {
  let [dots, digits] = [0, '']
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (character === '.') {
      if (digits === '' || at === text.length - 1)
        return { what: 'IPv4 field must have at least one digit', at: text.slice(at) }
      if (dots === 3) return { what: 'IPv4 address too long' }
      dots++
      digits = ''
      continue
    }
    if (!/[0-9]/.test(character)) return { what: 'unexpected character', at: text.slice(at) }
    if (digits === '0') return { what: 'IPv4 field has octet with leading zero' }
    digits += character
    if (Number(digits) > 255) return { what: 'IPv4 field has value >255' }
  }
  return dots < 3 ? { what: 'IPv4 address too short' } : undefined
}

const GROUPS = 8
/**
 * Matches up to five digits, which is one more than a group may have, to detect groups that are too
 * long.
 */
const group = /^[0-9a-fA-F]{0,5}/

function ipv6Fault(text: string): Fault | undefined {
  const [address = '', ...zone] = text.split('%', 2)
  if (zone[0] === '') return { what: 'zone must be a non-empty string' }
  let hasEllipsis = address.startsWith('::')
  let rest = hasEllipsis ? address.slice(2) : address
  let groups = 0
  while (groups < GROUPS && (rest !== '' || !hasEllipsis)) {
    const digits = group.exec(rest)?.[0].length ?? 0
    if (digits > 4) return { what: 'each group must have 4 or less digits', at: rest }
    if (digits === 0)
      return { what: 'each colon-separated field must have at least one digit', at: rest }
    if (rest[digits] === '.') {
      const misplaced = embeddedFault(groups, hasEllipsis)
      if (misplaced !== undefined) return { what: misplaced, at: rest }
      const fault = ipv4Fault(rest)
      if (fault !== undefined) return fault
      groups += 2
      rest = ''
      break
    }
    groups++
    rest = rest.slice(digits)
    if (rest === '') break
    if (rest[0] !== ':') return { what: 'unexpected character, want colon', at: rest }
    if (rest === ':') return { what: 'colon must be followed by more characters', at: rest }
    rest = rest.slice(1)
    if (rest[0] !== ':') continue
    if (hasEllipsis) return { what: 'multiple :: in address', at: rest }
    hasEllipsis = true
    rest = rest.slice(1)
  }
  if (rest !== '') return { what: 'trailing garbage after address', at: rest }
  if (groups < GROUPS && !hasEllipsis) return { what: 'address string too short' }
  if (groups === GROUPS && hasEllipsis)
    return { what: 'the :: must expand to at least one field of zeros' }
  return undefined
}

/**
 * Returns the error for an IPv4 address at the end of an IPv6 address, where it replaces the last
 * two groups.
 */
function embeddedFault(groups: number, hasEllipsis: boolean): string | undefined {
  if (!hasEllipsis && groups !== GROUPS - 2)
    return 'embedded IPv4 address must replace the final 2 fields of the address'
  return groups + 2 > GROUPS
    ? 'too many hex fields to fit an embedded IPv4 at the end of the address'
    : undefined
}
