/**
 * Values as Go prints them in some messages, with %v or %#v. Of a long value only the beginning is
 * printed.
 */
import { SHOWN_CHARACTERS_MAX, shownValue } from './field-fault.ts'
import { isFields, isNumber, type Json, numberOf } from './object.ts'
import { parseQuantity } from './quantity.ts'
import { quote } from './quote.ts'

/** `[]string{"a", "b"}`; an empty list is `[]string(nil)`. */
export function goStrings(list: readonly string[], type = 'string'): string {
  return list.length === 0 ? `[]${type}(nil)` : `[]${type}{${shownItems(list, shownValue)}}`
}

/** Items one after the other, up to what a message shows of a value. */
export function shownItems<T>(
  items: readonly T[],
  show: (item: T) => string,
  separator = ', ',
): string {
  let text = ''
  for (const [at, item] of items.entries()) {
    if (text.length > SHOWN_CHARACTERS_MAX) return `${text}... (${items.length - at} more)`
    text += at === 0 ? show(item) : separator + show(item)
  }
  return text
}

/** `[]byte{0x77, 0xa}` for bytes in base64. */
export function goBytes(base64: string | undefined): string {
  if (base64 === undefined) return '[]byte(nil)'
  return `[]byte{${Array.from(Buffer.from(base64, 'base64'), (byte) => `0x${byte.toString(16)}`).join(', ')}}`
}

/** Longer than any timestamp with all digits of its fraction. */
const TIME_CHARACTERS_MAX = 64

/**
 * `2001-02-03 04:05:06 +0000 UTC` for a timestamp in UTC; trailing zeros of the fraction are
 * dropped.
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
 * `time.Date(2001, time.February, 3, 4, 5, 6, 0, time.Local)` for a timestamp of metadata; an
 * absent one is Go's zero time.
 */
export function goDate(timestamp: string): string {
  if (timestamp === '') return 'time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)'
  const at = new Date(timestamp)
  const clock = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds(), 0].join(', ')
  return `time.Date(${at.getUTCFullYear()}, time.${months[at.getUTCMonth()]}, ${at.getUTCDate()}, ${clock}, time.Local)`
}

const formats = { decimal: 'DecimalSI', binary: 'BinarySI', exponent: 'DecimalExponent' } as const

/** The Go struct of a quantity, with its unexported fields. */
export function goQuantity(text: string): string {
  const quantity = parseQuantity(text)
  const format = formats['fault' in quantity ? 'decimal' : quantity.format]
  const nanos = 'fault' in quantity ? 0n : quantity.nanos
  const [value, scale] = nanos % 10n ** 9n === 0n ? [nanos / 10n ** 9n, 0] : [nanos / 10n ** 6n, -3]
  const amount = `i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}`
  return `resource.Quantity{${amount}, s:${quote(text)}, Format:${quote(format)}}`
}

/** The Go struct of an IntOrString. */
export const goIntOrString = (value: Json | undefined): string =>
  typeof value === 'string'
    ? `intstr.IntOrString{Type:1, IntVal:0, StrVal:${quote(value)}}`
    : `intstr.IntOrString{Type:0, IntVal:${numberOf(value)}, StrVal:""}`

/**
 * A struct with `%#v`. Of a pointer Go prints the address, which means nothing: here it is always
 * the same one.
 */
export function goStruct(name: string, fields: { readonly [field: string]: string }): string {
  return `${name}{${Object.entries(fields)
    .map(([field, value]) => `${field}:${value}`)
    .join(', ')}}`
}

export const goPointer = (type: string, isGiven: boolean): string =>
  `(*${type})(${isGiven ? '0xc000000000' : 'nil'})`

/** JSON with `%#v`: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: Json): string {
  if (value === null) return 'interface {}(nil)'
  if (typeof value === 'string') return shownValue(value)
  if (isNumber(value)) return goNumber(value)
  if (typeof value !== 'object') return `${value}`
  if (!isFields(value)) return `[]interface {}{${shownItems(value, goSyntax)}}`
  const member = (key: string): string => `${shownValue(key)}:${goSyntax(value[key] ?? null)}`
  return `map[string]interface {}{${shownItems(sortedKeys(value), member)}}`
}

/** A value as it is printed in the fault of a field. */
export const goShown = (value: Json): string => (value === null ? '"null"' : goSyntax(value))

/** JSON with `%v`: `map[a:1]`, with the keys in the order of their bytes. */
export function goPlain(value: Json): string {
  if (value === null) return '<nil>'
  if (isNumber(value)) return goNumber(value)
  if (typeof value === 'string') return shownPlain(value)
  if (typeof value !== 'object') return `${value}`
  if (!isFields(value)) return `[${shownItems(value, goPlain, ' ')}]`
  const member = (key: string): string => `${shownPlain(key)}:${goPlain(value[key] ?? null)}`
  return `map[${shownItems(sortedKeys(value), member, ' ')}]`
}

/** A text as messages show it: shortened if it is very long. */
export function shownPlain(text: string): string {
  const more = text.length - SHOWN_CHARACTERS_MAX
  return more <= 0 ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX)}... (${more} more characters)`
}

/** With `%v`. Integers that Go decodes as int64 are printed without an exponent. */
const goNumber = (value: number | bigint): string =>
  typeof value === 'bigint' || Number.isSafeInteger(value) ? `${value}` : goFloat(value)

/**
 * As `%v` prints a float64: with an exponent, of at least two digits, below 1e-4 and from 1e6 on.
 */
export function goFloat(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power >= -4 && power < 6) return `${value}`
  return `${digits}e${power < 0 ? '-' : '+'}${`${Math.abs(power)}`.padStart(2, '0')}`
}

/**
 * More keys are in the order of their UTF-16 code units, which is the same for nearly all keys and
 * many times faster.
 */
const BYTE_SORTED_MAX = 100

function sortedKeys(fields: object): string[] {
  const keys = Object.keys(fields)
  return keys.length > BYTE_SORTED_MAX ? keys.toSorted() : keys.toSorted(compareBytes)
}

/** As Go compares texts: by the bytes of UTF-8. */
const compareBytes = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other))
