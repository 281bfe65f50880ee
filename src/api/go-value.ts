/**
 * Prints values as Go does in some messages, with %v or %#v. Only the beginning of a long value is
 * printed.
 */
import { SHOWN_CHARACTERS_MAX, shownValue } from './field-fault.ts'
import { isFields, isNumber, type Json, numberOf } from './object.ts'
import { parseQuantity } from './quantity.ts'
import { quote } from './quote.ts'

/** Prints strings as `[]string{"a", "b"}`, and an empty list as `[]string(nil)`. */
export function goStrings(list: readonly string[], type = 'string'): string {
  return list.length === 0 ? `[]${type}(nil)` : `[]${type}{${shownItems(list, shownValue)}}`
}

/** Prints items one after another, up to the length that a message shows of a value. */
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

/** Prints bytes in base64 as `[]byte{0x77, 0xa}`. */
export function goBytes(base64: string | undefined): string {
  if (base64 === undefined) return '[]byte(nil)'
  return `[]byte{${Array.from(Buffer.from(base64, 'base64'), (byte) => `0x${byte.toString(16)}`).join(', ')}}`
}

/** Maximum length of a timestamp. One with all digits of its fraction is shorter. */
const TIME_CHARACTERS_MAX = 64

/**
 * Prints a UTC timestamp as `2001-02-03 04:05:06 +0000 UTC`, without trailing zeros of the
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
 * Prints a timestamp of metadata as `time.Date(2001, time.February, 3, 4, 5, 6, 0, time.Local)`. An
 * absent one is Go's zero time.
 */
export function goDate(timestamp: string): string {
  if (timestamp === '') return 'time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)'
  const at = new Date(timestamp)
  const clock = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds(), 0].join(', ')
  return `time.Date(${at.getUTCFullYear()}, time.${months[at.getUTCMonth()]}, ${at.getUTCDate()}, ${clock}, time.Local)`
}

const formats = { decimal: 'DecimalSI', binary: 'BinarySI', exponent: 'DecimalExponent' } as const

/** Prints the Go struct of a quantity, with its unexported fields. */
export function goQuantity(text: string): string {
  const quantity = parseQuantity(text)
  const format = formats['fault' in quantity ? 'decimal' : quantity.format]
  const nanos = 'fault' in quantity ? 0n : quantity.nanos
  const [value, scale] = nanos % 10n ** 9n === 0n ? [nanos / 10n ** 9n, 0] : [nanos / 10n ** 6n, -3]
  const amount = `i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}`
  return `resource.Quantity{${amount}, s:${quote(text)}, Format:${quote(format)}}`
}

/** Prints the Go struct of an IntOrString. */
export const goIntOrString = (value: Json | undefined): string =>
  typeof value === 'string'
    ? `intstr.IntOrString{Type:1, IntVal:0, StrVal:${quote(value)}}`
    : `intstr.IntOrString{Type:0, IntVal:${numberOf(value)}, StrVal:""}`

/**
 * Prints a struct with `%#v`. Go prints the address of a pointer, which has no meaning. Here it is
 * always the same.
 */
export function goStruct(name: string, fields: { readonly [field: string]: string }): string {
  return `${name}{${Object.entries(fields)
    .map(([field, value]) => `${field}:${value}`)
    .join(', ')}}`
}

export const goPointer = (type: string, isGiven: boolean): string =>
  `(*${type})(${isGiven ? '0xc000000000' : 'nil'})`

/** Prints JSON with `%#v`, such as `map[string]interface {}{"a":1}`. */
export function goSyntax(value: Json): string {
  if (value === null) return 'interface {}(nil)'
  if (typeof value === 'string') return shownValue(value)
  if (isNumber(value)) return goNumber(value)
  if (typeof value !== 'object') return `${value}`
  if (!isFields(value)) return `[]interface {}{${shownItems(value, goSyntax)}}`
  const member = (key: string): string => `${shownValue(key)}:${goSyntax(value[key] ?? null)}`
  return `map[string]interface {}{${shownItems(sortedKeys(value), member)}}`
}

/** Prints a value as in the fault of a field. */
export const goShown = (value: Json): string => (value === null ? '"null"' : goSyntax(value))

/** Prints JSON with `%v`, such as `map[a:1]`, with the keys in the order of their bytes. */
export function goPlain(value: Json): string {
  if (value === null) return '<nil>'
  if (isNumber(value)) return goNumber(value)
  if (typeof value === 'string') return shownPlain(value)
  if (typeof value !== 'object') return `${value}`
  if (!isFields(value)) return `[${shownItems(value, goPlain, ' ')}]`
  const member = (key: string): string => `${shownPlain(key)}:${goPlain(value[key] ?? null)}`
  return `map[${shownItems(sortedKeys(value), member, ' ')}]`
}

/** Returns a text as messages show it: shortened if it is very long. */
export function shownPlain(text: string): string {
  const more = text.length - SHOWN_CHARACTERS_MAX
  return more <= 0 ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX)}... (${more} more characters)`
}

/** Prints a number with `%v`. Integers that Go decodes as int64 have no exponent. */
const goNumber = (value: number | bigint): string =>
  typeof value === 'bigint' || Number.isSafeInteger(value) ? `${value}` : goFloat(value)

/**
 * Prints a float64 with `%v`. Values below 1e-4 and from 1e6 on have an exponent, of at least two
 * digits.
 */
export function goFloat(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power >= -4 && power < 6) return `${value}`
  return `${digits}e${power < 0 ? '-' : '+'}${`${Math.abs(power)}`.padStart(2, '0')}`
}

/**
 * Maximum number of keys that are sorted by their bytes. More keys are sorted by UTF-16 code units,
 * which gives the same order for nearly all keys and is many times faster.
 */
const BYTE_SORTED_MAX = 100

function sortedKeys(fields: object): string[] {
  const keys = Object.keys(fields)
  return keys.length > BYTE_SORTED_MAX ? keys.toSorted() : keys.toSorted(compareBytes)
}

/** Compares texts as Go does: by the bytes of UTF-8. */
const compareBytes = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other))
