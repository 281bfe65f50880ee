/**
 * A header field, and whether it is valid in HTTP. The field is validated only when it is created,
 * because the same fields of HPACK's dynamic table are used by many requests.
 */
import { SPACE } from '../../lib/bytes/ascii.ts'

export type HeaderField = {
  readonly name: string
  readonly value: string
  /**
   * Whether the name is a lower-case token and the value has no control characters (RFC 9113,
   * 8.2.1).
   */
  readonly isValid: boolean
  /** Size as defined for HPACK and SETTINGS_MAX_HEADER_LIST_SIZE. */
  readonly size: number
}

/** Overhead of an entry in addition to its text (RFC 7541, 4.1). */
const ENTRY_BYTES = 32

export function createField(name: string, value: string): HeaderField {
  const size = name.length + value.length + ENTRY_BYTES
  return { name, value, isValid: isName(name) && isValue(value), size }
}

/** For each ASCII code, whether a header name may contain the character. */
const nameLetters: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz".includes(String.fromCharCode(code)),
)

function isName(name: string): boolean {
  // All names that begin with a colon are accepted here. Unknown pseudo-header fields are refused
  // later.
  const start = name.startsWith(':') ? 1 : 0
  if (name.length === start) return false
  for (let at = start; at < name.length; at++)
    if (nameLetters[name.charCodeAt(at)] !== true) return false
  return true
}

const TAB = 0x09
const DELETE = 0x7f

/** RFC 9113 forbids leading and trailing spaces. They are accepted here, as in Go's server. */
function isValue(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at)
    if (code < SPACE ? code !== TAB : code === DELETE) return false
  }
  return true
}
