/** Parses booleans and integers as Go's strconv does. */

/**
 * Parses a boolean as Go's strconv.ParseBool does. Returns undefined if the text is not a boolean.
 */
export function parseGoBoolean(text: string): boolean | undefined {
  if (/^(?:1|t|T|true|TRUE|True)$/.test(text)) return true
  return /^(?:0|f|F|false|FALSE|False)$/.test(text) ? false : undefined
}

/** The number of digits of 2^64. */
const DIGITS_MAX = 20

/**
 * Whether a string of digits, with or without a sign, is too long for 64 bits. Check this before
 * calling BigInt, which takes half a second for the longest string that a request body can contain.
 */
export const isBeyond64Bits = (text: string): boolean =>
  text.replace(/^[+-]?0*/, '').length > DIGITS_MAX
