/**
 * Compacts JSON in one pass over its bytes. Removes whitespace between tokens, and escapes the
 * characters that Go escapes.
 */
import { BACKSLASH, NEWLINE, QUOTE, SPACE } from '../../lib/bytes/ascii.ts'
import { repeat } from '../../lib/scheduling/parts.ts'

const CARRIAGE_RETURN = 0x0d
const TAB = 0x09
const AMPERSAND = 0x26
const LESS = 0x3c
const GREATER = 0x3e

/**
 * The first two bytes of U+2028 and U+2029 in UTF-8. The third byte is one of the constants below.
 */
const SEPARATOR_FIRST = 0xe2
const SEPARATOR_SECOND = 0x80
const LINE_SEPARATOR = 0xa8
const PARAGRAPH_SEPARATOR = 0xa9

const SMALL_U = 0x75
const ESCAPE_BYTES = 6

/** The check whether the work should be interrupted is made once per this number of bytes. */
const BYTES_PER_STEP = 16_384

type Compacting = { at: number; isInString: boolean; readonly pieces: Buffer[] }

const begin = (): Compacting => ({ at: 0, isInString: false, pieces: [] })

/**
 * Compacts a valid JSON text in UTF-8. If the caller's work is divided into parts
 * (lib/scheduling/parts.ts), this function can be interrupted.
 */
export function compactedBytes(json: Buffer): Buffer {
  const { pieces } = repeat('compacted JSON', begin, (state) => {
    state.pieces.push(compactedPiece(json, state))
    return state.at < json.length
  })
  return Buffer.concat(pieces)
}

function compactedPiece(json: Buffer, state: Compacting): Buffer {
  let { at, isInString } = state
  const end = Math.min(json.length, at + BYTES_PER_STEP)
  const printed = Buffer.allocUnsafeSlow((end - at) * ESCAPE_BYTES)
  let length = 0
  for (; at < end; at++) {
    const byte = json[at] ?? 0
    if (!isInString) {
      if (isWhiteSpace(byte)) continue
      isInString = byte === QUOTE
      printed[length++] = byte
    } else if (byte === BACKSLASH) {
      printed[length++] = byte
      printed[length++] = json[++at] ?? 0
    } else if (isEscaped(byte)) {
      length = writeEscape(printed, length, byte)
    } else if (byte === SEPARATOR_FIRST && isSeparator(json, at)) {
      at += 2
      length = writeEscape(printed, length, json[at] === LINE_SEPARATOR ? 0x2028 : 0x2029)
    } else {
      isInString = byte !== QUOTE
      printed[length++] = byte
    }
  }
  state.at = at
  state.isInString = isInString
  return Buffer.from(printed.subarray(0, length))
}

const isWhiteSpace = (byte: number): boolean =>
  byte === SPACE || byte === NEWLINE || byte === CARRIAGE_RETURN || byte === TAB

const isEscaped = (byte: number): boolean => byte === AMPERSAND || byte === LESS || byte === GREATER

const isSeparator = (json: Buffer, at: number): boolean =>
  json[at + 1] === SEPARATOR_SECOND &&
  (json[at + 2] === LINE_SEPARATOR || json[at + 2] === PARAGRAPH_SEPARATOR)

/**
 * Writes an escape sequence such as `\u003c` byte by byte. There can be millions of them, and
 * calling a Buffer method for each would be far slower. Returns the position after the sequence.
 */
function writeEscape(into: Buffer, at: number, code: number): number {
  into[at] = BACKSLASH
  into[at + 1] = SMALL_U
  into[at + 2] = hexDigit(code >> 12)
  into[at + 3] = hexDigit((code >> 8) & 0xf)
  into[at + 4] = hexDigit((code >> 4) & 0xf)
  into[at + 5] = hexDigit(code & 0xf)
  return at + ESCAPE_BYTES
}

/** Returns the ASCII code of a lowercase hexadecimal digit. */
const hexDigit = (value: number): number => value + (value < 10 ? 0x30 : 0x57)
