/** Booleans and integers as Go's strconv reads them. */

/** Parses a boolean like Go's strconv.ParseBool. Returns undefined if the text is not a boolean. */
export function parseGoBoolean(text: string): boolean | undefined {
  if (/^(?:1|t|T|true|TRUE|True)$/.test(text)) return true
  return /^(?:0|f|F|false|FALSE|False)$/.test(text) ? false : undefined
}

/** The number of digits of 2^64. */
const DIGITS_MAX = 20

/**
 * Whether a text of digits, with or without a sign, is too long for 64 bits. Check it before
 * BigInt, which takes half a second for a text as long as a request body may be.
 */
export const isBeyond64Bits = (text: string): boolean =>
  text.replace(/^[+-]?0*/, '').length > DIGITS_MAX
