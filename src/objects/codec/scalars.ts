/**
 * Parses values that are a string or number in JSON. They are parsed as in Go, and normalized to
 * the form that Go prints.
 */
import { canonicalQuantity } from '../../api/quantity.ts'
import { parseMicroTime, parseTime, zeroTime } from '../../api/time.ts'

/** The normalized text, or the reason why the text is invalid. */
export type ScalarResult = { readonly text: string } | { readonly fault: string }

const int32Min = -(2 ** 31)
const int32Max = 2 ** 31 - 1
const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n

/** Number of digits with which a JavaScript number is always exact. */
const EXACT_DIGITS = 15

/**
 * Maximum length of an int64 with its sign. JSON does not permit leading zeros, so no int64 is
 * longer.
 */
const INT64_CHARACTERS_MAX = 20

/**
 * Parses an integer. Returns undefined if the literal is not an integer of this size. `1.0` and
 * `1e3` are not integers.
 */
export function readInteger(literal: string, size: 'int32' | 'int64'): number | bigint | undefined {
  if (!/^-?[0-9]+$/.test(literal)) return undefined
  if (literal.length <= EXACT_DIGITS) {
    // Adding zero converts -0 to 0.
    const value = Number(literal) + 0
    return size === 'int64' || (value >= int32Min && value <= int32Max) ? value : undefined
  }
  if (literal.length > INT64_CHARACTERS_MAX) return undefined
  const value = BigInt(literal)
  if (size === 'int32' || value < int64Min || value > int64Max) return undefined
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

const base64Form = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
/**
 * Maximum length of a text that is validated with `base64Form`. For a text with an invalid end, the
 * regular expression backtracks over the whole text. Longer texts are validated in another way.
 */
const BASE64_FORM_CHARACTERS_MAX = 4096

/** Parses base64. Line breaks are accepted, and padding is required. */
export function readBase64(given: string): ScalarResult {
  const isShort = given.length <= BASE64_FORM_CHARACTERS_MAX
  const fault = isShort && base64Form.test(given) ? undefined : base64FaultAt(given)
  if (fault !== undefined) return { fault: `illegal base64 data at input byte ${fault}` }
  const text = /[\r\n]/.test(given) ? given.replace(/[\r\n]/g, '') : given
  // The last digit can have bits that do not belong to a byte. Decoding and encoding the text sets
  // them to zero.
  return { text: text.endsWith('=') ? Buffer.from(text, 'base64').toString('base64') : text }
}

const isLineEnd = (character: string | undefined): boolean =>
  character === '\n' || character === '\r'

const base64Digits = /[A-Za-z0-9+/]*/y

/**
 * Returns the position of the first error, as Go's decoder reports it, counting line breaks.
 * Returns undefined if the text is valid.
 */
function base64FaultAt(text: string): number | undefined {
  let digits = 0
  for (let at = 0; at < text.length; at++) {
    base64Digits.lastIndex = at
    base64Digits.test(text)
    digits += base64Digits.lastIndex - at
    at = base64Digits.lastIndex
    while (isLineEnd(text[at]) && isLineEnd(text[at + 1])) at++
    const character = text[at]
    if (character === undefined || isLineEnd(character)) continue
    if (character !== '=' || digits % 4 < 2) return at
    return paddingFaultAt(text, at, digits % 4)
  }
  return digits % 4 === 0 ? undefined : text.length - (digits % 4)
}

/**
 * Returns the position of an error in the padding, or undefined if the padding is valid. It begins
 * at `at`. The last group of four characters has `digits` digits before it.
 */
function paddingFaultAt(text: string, at: number, digits: number): number | undefined {
  let next = at + 1
  const skipLineEnds = (): void => {
    while (isLineEnd(text[next])) next++
  }
  if (digits === 2) {
    skipLineEnds()
    if (next >= text.length) return text.length
    if (text[next] !== '=') return next
    next++
  }
  skipLineEnds()
  return next < text.length ? next : undefined
}

/**
 * Parses a time. Go's zero time becomes `zeroTime`. It means the same as an absent time, unless the
 * field is a pointer in Go.
 */
export function readTime(given: string, scalar: 'time' | 'microTime'): ScalarResult {
  const time = scalar === 'time' ? parseTime(given) : parseMicroTime(given)
  if ('fault' in time) return time
  return {
    text:
      time.text.startsWith(zeroTime.slice(0, -1)) && !/\.0*[1-9]/.test(time.text)
        ? zeroTime
        : time.text,
  }
}

export const readQuantity = (given: string): ScalarResult => canonicalQuantity(given)
