/** One header field, and whether HTTP allows it. Told once: fields of HPACK's table come again with every request. */
import { SPACE } from '../lib/ascii.ts'

export type HeaderField = {
  readonly name: string
  readonly value: string
  /** Name in lower case and of the letters that a name may have, value without line ends: RFC 9113, 8.2.1. */
  readonly isValid: boolean
  /** As HPACK and SETTINGS_MAX_HEADER_LIST_SIZE count it. */
  readonly size: number
}

/** What each entry costs beyond its text: RFC 7541, 4.1. */
const ENTRY_BYTES = 32

export function createField(name: string, value: string): HeaderField {
  const size = name.length + value.length + ENTRY_BYTES
  return { name, value, isValid: isName(name) && isValue(value), size }
}

/** Of the 128 codes of ASCII: what a name may be made of. */
const nameLetters: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz".includes(String.fromCharCode(code)),
)

function isName(name: string): boolean {
  // Of those that begin with a colon only the known ones are let through, later.
  const start = name.startsWith(':') ? 1 : 0
  if (name.length === start) return false
  for (let at = start; at < name.length; at++) if (nameLetters[name.charCodeAt(at)] !== true) return false
  return true
}

const TAB = 0x09
const DELETE = 0x7f

/** Blanks at its ends would be a mistake by RFC 9113; Go's server takes them, and so do we. */
function isValue(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at)
    if (code < SPACE ? code !== TAB : code === DELETE) return false
  }
  return true
}
