/**
 * Formats values like Go's %v and %#v, which appear in some messages. Only the beginning of a long
 * value is formatted.
 */
import { cutText, QUOTED_CHARACTERS_MAX } from '../lib/text/cut-text.ts'
import { isFields, isNumber, type Json, numberOf } from './object.ts'
import { parseQuantity } from './quantity.ts'
import { quote } from './quote.ts'

/** Formats strings as `[]string{"a", "b"}`, and an empty list as `[]string(nil)`. */
export function goStrings(list: readonly string[], type = 'string'): string {
  return list.length === 0 ? `[]${type}(nil)` : `[]${type}{${shownItems(list, quote)}}`
}

/** Formats items in order. Stops when the result has the maximum length of a value in a message. */
export function shownItems<T>(
  items: readonly T[],
  show: (item: T) => string,
  separator = ', ',
): string {
  let text = ''
  for (const [at, item] of items.entries()) {
    if (text.length > QUOTED_CHARACTERS_MAX) return `${text}... (${items.length - at} more)`
    text += at === 0 ? show(item) : separator + show(item)
  }
  return text
}

/** Maximum number of bytes that are formatted. Their text is longer than any response. */
const BYTES_MAX = 64 << 10

/** Formats base64-encoded bytes as `[]byte{0x77, 0xa}`. */
export function goBytes(base64: string | undefined): string {
  if (base64 === undefined) return '[]byte(nil)'
  const bytes = Buffer.from(base64, 'base64').subarray(0, BYTES_MAX)
  return `[]byte{${Array.from(bytes, (byte) => `0x${byte.toString(16)}`).join(', ')}}`
}

/**
 * Maximum length of a string that is parsed as a timestamp. Even a timestamp with all fractional
 * digits is shorter.
 */
const TIME_CHARACTERS_MAX = 64

/**
 * Formats a UTC timestamp as `2001-02-03 04:05:06 +0000 UTC`, without trailing zeros in the
 * fraction.
 */
export function goTime(timestamp: string): string {
  if (timestamp.length > TIME_CHARACTERS_MAX) return timestamp
  const [, date = '', time = '', fraction = ''] =
    /^(.*)T([^.Z]*)(\.\d*?)?0*Z$/.exec(timestamp) ?? []
  return `${date} ${time}${fraction === '.' ? '' : fraction} +0000 UTC`
}

const months =
  'January February March April May June July August September October November December'.split(' ')

/**
 * Formats a metadata timestamp as `time.Date(2001, time.February, 3, 4, 5, 6, 0, time.Local)`. An
 * absent timestamp is Go's zero time.
 */
export function goDate(timestamp: string): string {
  if (timestamp === '') return 'time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)'
  const at = new Date(timestamp)
  const clock = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds(), 0].join(', ')
  return `time.Date(${at.getUTCFullYear()}, time.${months[at.getUTCMonth()]}, ${at.getUTCDate()}, ${clock}, time.Local)`
}

const formats = { decimal: 'DecimalSI', binary: 'BinarySI', exponent: 'DecimalExponent' } as const

/** Formats a quantity as its Go struct, with unexported fields. */
export function goQuantity(text: string): string {
  const quantity = parseQuantity(text)
  const format = formats['fault' in quantity ? 'decimal' : quantity.format]
  const nanos = 'fault' in quantity ? 0n : quantity.nanos
  const [value, scale] = nanos % 10n ** 9n === 0n ? [nanos / 10n ** 9n, 0] : [nanos / 10n ** 6n, -3]
  const amount = `i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}`
  return `resource.Quantity{${amount}, s:${quote(text)}, Format:${quote(format)}}`
}

/** Formats an IntOrString as its Go struct. */
export const goIntOrString = (value: Json | undefined): string =>
  typeof value === 'string'
    ? `intstr.IntOrString{Type:1, IntVal:0, StrVal:${quote(value)}}`
    : `intstr.IntOrString{Type:0, IntVal:${numberOf(value)}, StrVal:""}`

/**
 * Formats a struct as `%#v` does. Pointers in it come from `goPointer`, which always returns the
 * same address, because addresses in memory have no meaning for clients.
 */
export function goStruct(name: string, fields: { readonly [field: string]: string }): string {
  return `${name}{${Object.entries(fields)
    .map(([field, value]) => `${field}:${value}`)
    .join(', ')}}`
}

export const goPointer = (type: string, isGiven: boolean): string =>
  `(*${type})(${isGiven ? '0xc000000000' : 'nil'})`

/** Formats JSON as `%#v` does, such as `map[string]interface {}{"a":1}`. */
export function goSyntax(value: Json): string {
  if (value === null) return 'interface {}(nil)'
  if (typeof value === 'string') return quote(value)
  if (isNumber(value)) return goNumber(value)
  if (typeof value !== 'object') return `${value}`
  if (!isFields(value)) return `[]interface {}{${shownItems(value, goSyntax)}}`
  const member = (key: string): string => `${quote(key)}:${goSyntax(value[key] ?? null)}`
  return `map[string]interface {}{${shownItems(sortedKeys(value), member)}}`
}

/** Formats a value for a field error. */
export const goShown = (value: Json): string => (value === null ? '"null"' : goSyntax(value))

/** Formats JSON as `%v` does, such as `map[a:1]`, with the keys sorted by their bytes. */
export function goPlain(value: Json): string {
  if (value === null) return '<nil>'
  if (isNumber(value)) return goNumber(value)
  if (typeof value === 'string') return cutText(value)
  if (typeof value !== 'object') return `${value}`
  if (!isFields(value)) return `[${shownItems(value, goPlain, ' ')}]`
  const member = (key: string): string => `${cutText(key)}:${goPlain(value[key] ?? null)}`
  return `map[${shownItems(sortedKeys(value), member, ' ')}]`
}

/** Formats a number as `%v` does. Integers that Go decodes as int64 have no exponent. */
const goNumber = (value: number | bigint): string =>
  typeof value === 'bigint' || Number.isSafeInteger(value) ? `${value}` : goFloat(value)

/**
 * Formats a float64 as `%v` does. Values below 1e-4, and values of 1e6 or more, have an exponent of
 * at least two digits.
 */
export function goFloat(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power >= -4 && power < 6) return `${value}`
  return `${digits}e${power < 0 ? '-' : '+'}${`${Math.abs(power)}`.padStart(2, '0')}`
}

/**
 * Maximum number of keys that are sorted by their bytes. More keys are sorted by UTF-16 code units,
 * which is many times faster and gives the same order for nearly all keys.
 */
const BYTE_SORTED_MAX = 100

function sortedKeys(fields: object): string[] {
  const keys = Object.keys(fields)
  return keys.length > BYTE_SORTED_MAX ? keys.toSorted() : keys.toSorted(compareBytes)
}

/** Compares strings as Go does: by their UTF-8 bytes. */
const compareBytes = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other))
