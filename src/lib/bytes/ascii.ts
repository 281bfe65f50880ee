/** Character codes, for code that parses JSON and headers byte by byte. */
export const NEWLINE = 0x0a
export const SPACE = 0x20
export const QUOTE = 0x22
export const COMMA = 0x2c
export const MINUS = 0x2d
export const ZERO = 0x30
export const NINE = 0x39
export const COLON = 0x3a
export const BRACKET_OPEN = 0x5b
export const BACKSLASH = 0x5c
export const BRACKET_CLOSE = 0x5d
export const SMALL_F = 0x66
export const SMALL_N = 0x6e
export const SMALL_T = 0x74
export const BRACE_OPEN = 0x7b
export const BRACE_CLOSE = 0x7d
