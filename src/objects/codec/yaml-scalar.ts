/**
 * Interprets plain YAML 1.1 scalars by the rules of the library that kube-apiserver uses. The rules
 * differ from the YAML 1.1 specification, because base 60 is not supported. They also differ from
 * YAML 1.2, because `yes` and `on` are booleans, and `0777` is octal.
 */
type Scalar =
  | { readonly kind: 'string' }
  | { readonly kind: 'null' }
  | { readonly kind: 'merge' }
  | { readonly kind: 'timestamp' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'integer'; readonly value: number | bigint }
  | { readonly kind: 'float'; readonly value: number }

const string: Scalar = { kind: 'string' }

const words = new Map<string, Scalar>()
for (const word of ['', '~', 'null', 'Null', 'NULL']) words.set(word, { kind: 'null' })
for (const word of ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']) {
  words.set(word, { kind: 'boolean', value: true })
}
for (const word of ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']) {
  words.set(word, { kind: 'boolean', value: false })
}
for (const word of ['.nan', '.NaN', '.NAN']) words.set(word, { kind: 'float', value: Number.NaN })
for (const sign of ['', '+']) {
  for (const word of ['.inf', '.Inf', '.INF'])
    words.set(sign + word, { kind: 'float', value: Number.POSITIVE_INFINITY })
}
for (const word of ['-.inf', '-.Inf', '-.INF'])
  words.set(word, { kind: 'float', value: Number.NEGATIVE_INFINITY })
words.set('<<', { kind: 'merge' })

const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
const decimal = /^(?:0|[1-9][0-9]*)$/
const prefixed = /^(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)$/
const oldOctal = /^0[0-7]+$/
/** Range of integers: from the smallest int64 to the largest uint64. */
const INTEGER_MIN = -(2n ** 63n)
const INTEGER_MAX = 2n ** 64n - 1n
/** Maximum length of a 64-bit integer: its length in base 2, including the prefix. */
const INTEGER_CHARACTERS_MAX = 66

export function resolveScalar(text: string): Scalar {
  const word = words.get(text)
  if (word !== undefined) return word
  const first = text.charCodeAt(0)
  const isNumeric =
    (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e
  if (!isNumeric) return string
  if (isTimestamp(text)) return { kind: 'timestamp' }
  const plain = text.includes('_') ? text.replaceAll('_', '') : text
  const integer = readInteger(plain)
  if (integer !== undefined) return { kind: 'integer', value: integer }
  // A number outside of the range of a float is a string.
  const value = float.test(plain) ? Number(plain) : Number.NaN
  return Number.isFinite(value) ? { kind: 'float', value } : string
}

function readInteger(text: string): number | bigint | undefined {
  const isNegative = text.startsWith('-')
  const digits = isNegative || text.startsWith('+') ? text.slice(1) : text
  if (digits.length > INTEGER_CHARACTERS_MAX) return undefined
  const isDecimal = decimal.test(digits)
  if (isDecimal && digits.length < 16) return isNegative ? -Number(digits) : Number(digits)
  const isOldOctal = oldOctal.test(digits)
  if (!isDecimal && !isOldOctal && !prefixed.test(digits)) return undefined
  const magnitude = BigInt(isOldOctal ? `0o${digits}` : digits)
  const value = isNegative ? -magnitude : magnitude
  if (value < INTEGER_MIN || value > INTEGER_MAX) return undefined
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

const timestamp =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt]| )(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?(?<zone>Z|[+-]\d\d:\d\d)?)?$/

function isTimestamp(text: string): boolean {
  const match = timestamp.exec(text)
  if (match === null) return false
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const hasTime = match[4] !== undefined
  // In a timestamp, the time after a T must have a time zone. A time after a space must not have
  // one.
  if (hasTime && text.includes(' ') === (match.groups?.['zone'] !== undefined)) return false
  const date = new Date(Date.UTC(year, month - 1, day))
  return (
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    hour < 24 &&
    minute < 60 &&
    second < 60
  )
}
