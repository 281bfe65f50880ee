/** Of 2 to the power of 64. */
const DIGITS_MAX = 20

/**
 * Whether a text of digits, with or without a sign, is too long for a number of 64 bits. To be asked before BigInt, which takes
 * half a second for a text of a body's length.
 */
export const isBeyond64Bits = (text: string): boolean => text.replace(/^[+-]?0*/, '').length > DIGITS_MAX
