/**
 * The formats that are validated. All other formats are ignored. Each format accepts exactly the
 * strings that kube-apiserver accepts, even if they are unusual.
 */
import { isIP } from 'node:net'
import { parseWordedDuration } from '../../cel/time.ts'
import { isRequestUri } from './request-uri.ts'

/** Maximum length of a host name. */
const HOST_BYTES_MAX = 255
/** Maximum length of each label of a host name. */
const HOST_LABEL_BYTES_MAX = 63

const hostname =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u
const channel = '\\s*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*'
const rgbColor = new RegExp(`^rgb\\(${channel},${channel},${channel}\\)$`)
const card =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/
const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}-]+"
const address = `(?:${atom}(?:\\.${atom})*|"(?:[^"\\\\\\r\\n]|\\\\.)*")@(?:${atom}(?:\\.${atom})*|\\[[^\\[\\]\\\\]*\\])`
const email = new RegExp(`^(?:[ \\t]*${address}|[^<>()@,;:]*<${address}>)[ \\t]*$`, 'u')

const uuid = (version: string, variant: string): RegExp =>
  new RegExp(
    `^(?:[0-9a-f]{8}-[0-9a-f]{4}-${version}[0-9a-f]{3}-${variant}[0-9a-f]{3}-[0-9a-f]{12}|[0-9a-f]{12}${version}[0-9a-f]{3}${variant}[0-9a-f]{15})$`,
    'i',
  )

const by = (pattern: RegExp) => (text: string) => pattern.test(text)

const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', by(/^[0-9a-f]{24}$/i)],
  ['uri', isRequestUri],
  ['email', by(email)],
  ['hostname', isHostname],
  ['ipv4', (text: string) => text.includes('.') && isSloppyIp(text)],
  ['ipv6', (text: string) => text.includes(':') && isSloppyIp(text)],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', by(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', by(uuid('3', '[0-9a-f]'))],
  ['uuid4', by(uuid('4', '[89ab]'))],
  ['uuid5', by(uuid('5', '[89ab]'))],
  ['isbn', (text: string) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCard],
  ['ssn', by(/^\d{3}[- ]\d{2}[- ]\d{4}$/)],
  ['hexcolor', by(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', by(rgbColor)],
  ['byte', (text: string) => text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)],
  ['password', () => true],
  ['date', isDate],
  ['duration', (text: string) => parseWordedDuration(text) !== undefined],
  ['datetime', isDateTime],
  ['date-time', isDateTime],
])

export const isFormat = (name: string): boolean => formats.has(name)

/** Whether a string matches a format. If the format is not validated, any string matches. */
export const matchesFormat = (text: string, format: string): boolean =>
  formats.get(format)?.(text) ?? true

/** Matches most host names. It is faster than the pattern that covers all letters and symbols. */
const plainHostname = /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z]{2,63}$/

function isHostname(text: string): boolean {
  if (text.length <= HOST_BYTES_MAX && plainHostname.test(text)) return true
  if (text.length > HOST_BYTES_MAX || Buffer.byteLength(text) > HOST_BYTES_MAX) return false
  return (
    hostname.test(text) &&
    text.split('.').every((label) => Buffer.byteLength(label) <= HOST_LABEL_BYTES_MAX)
  )
}

/** Whether a string is an IP address. For compatibility, IPv4 addresses can have leading zeros. */
const isSloppyIp = (text: string): boolean =>
  isIP(text.replace(/(^|[.:])0+([1-9][0-9]*|0)(?=\.|$)/g, '$1$2')) !== 0 && !text.includes('%')

function isCidr(text: string): boolean {
  const slash = text.indexOf('/')
  const [ip, bits] = [text.slice(0, slash), text.slice(slash + 1)]
  return (
    slash > 0 &&
    isSloppyIp(ip) &&
    /^[0-9]{1,3}$/.test(bits) &&
    Number(bits) <= (ip.includes(':') ? 128 : 32)
  )
}

/**
 * Whether a string is a MAC address of 6, 8 or 20 bytes, according to Go 1.24, with which
 * Kubernetes 1.33 is built. Later versions of Go do not require separators between the digits.
 */
function isMac(text: string): boolean {
  if (text.includes('.'))
    return /^[0-9a-f]{4}(?:(?:\.[0-9a-f]{4}){2,3}|(?:\.[0-9a-f]{4}){9})$/i.test(text)
  return /^[0-9a-f]{2}([:-])[0-9a-f]{2}(?:(?:\1[0-9a-f]{2}){4}|(?:\1[0-9a-f]{2}){6}|(?:\1[0-9a-f]{2}){18})$/i.test(
    text,
  )
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false
  return (
    Array.from(digits).reduce(
      (sum, digit, at) => sum + (10 - at) * (digit === 'X' ? 10 : Number(digit)),
      0,
    ) %
      11 ===
    0
  )
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^[0-9]{13}$/.test(digits)) return false
  return (
    Array.from(digits).reduce((sum, digit, at) => sum + (at % 2 === 0 ? 1 : 3) * Number(digit), 0) %
      10 ===
    0
  )
}

function isCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '')
  if (!card.test(digits)) return false
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, at) => {
      const value = Number(digit) * (at % 2 === 0 ? 1 : 2)
      return total + (value > 9 ? value - 9 : value)
    }, 0)
  return sum % 10 === 0
}

function isDate(text: string): boolean {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []
  if (year === '') return false
  const isLeap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0)
  const days =
    [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Number(month) - 1] ?? 0
  return Number(day) >= 1 && Number(day) <= days
}

function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t')
  const match = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/.exec(
    time,
  )
  if (match === null || !isDate(date)) return false
  const [, hour = '', minute = '', second = ''] = match
  return hour <= '23' && minute <= '59' && second <= '59'
}
