/**
 * Quantities: numbers with a suffix, such as `500m`, `1.5Gi` or `2e3`. They are stored in a
 * canonical form: an integer with the largest suffix of the same family that leaves no fraction.
 */

/** Grammar of quantities. The integer or the fraction can be empty. */
const form = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*)([+-]?[0-9]*)$/
const quantityFault =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const suffixFault = "unable to parse quantity's suffix"

/** Powers of ten by suffix. */
const decimalSuffixes: readonly (readonly [string, number])[] = [
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]
/** Suffixes for the powers of 1024, in ascending order. */
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const

/** The smallest exponent that a quantity can have. Digits below one billionth are rounded up. */
const NANO_EXPONENT = -9

type Format = 'decimal' | 'binary' | 'exponent'

export type Quantity = { readonly nanos: bigint; readonly format: Format }

export type ParsedQuantity = { readonly text: string } | { readonly fault: string }

/**
 * Returns the canonical form. A quantity that differs from it only in plus signs, leading zeros or
 * a trailing dot is returned unchanged.
 */
export function canonicalQuantity(given: string): ParsedQuantity {
  const text = given.trim()
  if (isPlain(text)) return { text }
  const quantity = parseQuantity(text)
  if ('fault' in quantity) return quantity
  const canonical = printQuantity(quantity)
  // The canonical form will be stored and parsed again, so it must not exceed the maximum length.
  if (canonical.length > CHARACTERS_MAX) return { fault: quantityFault }
  if (quantity.nanos === 0n) return { text: canonical }
  const stripped = text
    .replace(/^\+/, '')
    .replace(/\.(?![0-9])/, '')
    .replace(/^(-?)0+(?=[0-9])/, '$1')
    .replace(/[eE]\+?(-?)0*(?=[0-9])/, 'e$1')
  return { text: stripped === canonical ? text : canonical }
}

/**
 * Returns whether a quantity is a small integer with a common suffix. Such a quantity is already
 * canonical in most cases.
 */
function isPlain(text: string): boolean {
  const [, digits = '', suffix = ''] = /^([1-9][0-9]{0,11})(Ki|Mi|Gi|m|k|M|G)?$/.exec(text) ?? []
  if (digits === '') return false
  return suffix.endsWith('i') ? Number(digits) % 1024 !== 0 : !digits.endsWith('000')
}

/**
 * Maximum length of a quantity, far above that of any real quantity. Parsing a megabyte of digits
 * would take seconds.
 */
const CHARACTERS_MAX = 1000

const commonForm = /^([0-9]{1,15})(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/
const commonUnits: { readonly [suffix: string]: bigint } = {
  '': 10n ** 9n,
  m: 10n ** 6n,
  k: 10n ** 12n,
  M: 10n ** 15n,
  G: 10n ** 18n,
  T: 10n ** 21n,
  Ki: 10n ** 9n * 1024n,
  Mi: 10n ** 9n * 1024n ** 2n,
  Gi: 10n ** 9n * 1024n ** 3n,
  Ti: 10n ** 9n * 1024n ** 4n,
}

/**
 * Parses the most common forms of quantities, faster than `parseAny`. Returns undefined for other
 * forms.
 */
function parseCommon(text: string): Quantity | undefined {
  const match = commonForm.exec(text)
  if (match === null) return undefined
  const [, digits = '', suffix = ''] = match
  const unit = commonUnits[suffix]
  if (unit === undefined) return undefined
  const format = suffix.endsWith('i') ? 'binary' : 'decimal'
  return { nanos: capped(BigInt(digits) * unit, format), format }
}

/**
 * Maximum of quantities with a binary suffix such as `Gi`. As in kube-apiserver, a larger quantity
 * is replaced by the largest int64.
 */
const BINARY_NANOS_MAX = (2n ** 63n - 1n) * 10n ** 9n

const capped = (nanos: bigint, format: Format): bigint =>
  format === 'binary' && nanos > BINARY_NANOS_MAX ? BINARY_NANOS_MAX : nanos

export function parseQuantity(text: string): Quantity | { readonly fault: string } {
  return parseCommon(text) ?? parseAny(text)
}

function parseAny(text: string): Quantity | { readonly fault: string } {
  if (text === '' || text.length > CHARACTERS_MAX) return { fault: quantityFault }
  const match = form.exec(text)
  if (match === null) return { fault: quantityFault }
  const [, sign = '', whole = '', fraction = '', letters = '', exponentText = ''] = match
  const suffix = readSuffix(letters, exponentText)
  if (suffix === undefined) return { fault: suffixFault }
  const digits = BigInt(`${whole}${fraction}` || '0')
  let nanos: bigint
  if (suffix.format === 'binary') {
    const scaled = digits * 1024n ** BigInt(suffix.power) * 10n ** 9n
    nanos = capped(divideUp(scaled, 10n ** BigInt(fraction.length)), 'binary')
  } else {
    const exponent = suffix.power - fraction.length - NANO_EXPONENT
    nanos = scale(digits, exponent)
  }
  return { nanos: sign === '-' ? -nanos : nanos, format: suffix.format }
}

function readSuffix(
  letters: string,
  exponentText: string,
): { format: Format; power: number } | undefined {
  const isExponent = (letters === 'e' || letters === 'E') && exponentText !== ''
  if (isExponent)
    return /\d/.test(exponentText) ? { format: 'exponent', power: Number(exponentText) } : undefined
  if (exponentText !== '') return undefined
  const binary = binarySuffixes.findIndex((suffix) => suffix !== '' && suffix === letters)
  if (binary !== -1) return { format: 'binary', power: binary }
  const decimal = decimalSuffixes.find(([suffix]) => suffix === letters)
  return decimal === undefined ? undefined : { format: 'decimal', power: decimal[1] }
}

/** Maximum exponent, larger than that of any real quantity. */
const EXPONENT_MAX = 400

/**
 * Multiplies by a power of ten, and rounds a fraction away from zero. Exponents beyond EXPONENT_MAX
 * are reduced to this number, because no real quantity has them.
 */
function scale(digits: bigint, exponent: number): bigint {
  if (exponent >= 0) return digits * 10n ** BigInt(Math.min(exponent, EXPONENT_MAX))
  return divideUp(digits, 10n ** BigInt(Math.min(-exponent, 400)))
}

const divideUp = (value: bigint, by: bigint): bigint => (value + by - 1n) / by

export function printQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0'
  const sign = nanos < 0n ? '-' : ''
  const size = nanos < 0n ? -nanos : nanos
  return sign + (format === 'binary' ? printBinary(size) : printDecimal(size, format))
}

function printBinary(nanos: bigint): string {
  if (nanos % 10n ** 9n !== 0n) return printDecimal(nanos, 'decimal')
  let value = nanos / 10n ** 9n
  let power = 0
  while (value % 1024n === 0n && power < binarySuffixes.length - 1) {
    value /= 1024n
    power++
  }
  return `${value}${binarySuffixes[power]}`
}

function printDecimal(nanos: bigint, format: Format): string {
  let value = nanos
  let exponent = NANO_EXPONENT
  while (value % 1000n === 0n && (exponent < 18 || format === 'exponent')) {
    value /= 1000n
    exponent += 3
  }
  if (format === 'exponent') return exponent === 0 ? `${value}` : `${value}e${exponent}`
  const suffix = decimalSuffixes.find(([, power]) => power === exponent)?.[0] ?? ''
  return `${value}${suffix}`
}

/** Returns the quantity in billionths, or 0 if the string is not a quantity. */
export function nanosOf(text: string): bigint {
  const quantity = parseQuantity(text)
  return 'fault' in quantity ? 0n : quantity.nanos
}

/** Rounds a quantity up to a multiple of one thousandth, the precision of resource lists. */
export function roundToMilli(text: string): string {
  const quantity = parseQuantity(text)
  if ('fault' in quantity || quantity.nanos % 1_000_000n === 0n) return text
  const { nanos, format } = quantity
  const isNegative = nanos < 0n
  const millis = divideUp(isNegative ? -nanos : nanos, 1_000_000n) * 1_000_000n
  return printQuantity({ nanos: isNegative ? -millis : millis, format })
}

/**
 * Returns a negative number if `one` is less than `other`, zero if they are equal, and a positive
 * number if `one` is greater.
 */
export const compareQuantities = (one: Quantity, other: Quantity): number =>
  one.nanos < other.nanos ? -1 : one.nanos > other.nanos ? 1 : 0

/** Adds two quantities. The sum has the format of `one`, unless `one` is zero. */
export function addQuantities(one: Quantity, other: Quantity): Quantity {
  return { nanos: one.nanos + other.nanos, format: one.nanos === 0n ? other.format : one.format }
}
