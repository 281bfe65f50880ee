import { cutText, QUOTED_CHARACTERS_MAX } from '../lib/text/cut-text.ts'

/**
 * Escape sequences of one letter. API messages quote strings like Go's %q, and clients compare
 * these messages.
 */
const namedEscapes: { readonly [character: string]: string } = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
}

/** Escape sequences of ASCII characters, by character code. */
const escapes: readonly (string | undefined)[] = Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code)
  const isPrintable = code >= 0x20 && code < 0x7f
  return (
    namedEscapes[character] ??
    (isPrintable ? undefined : `\\x${code.toString(16).padStart(2, '0')}`)
  )
})

/**
 * Matches printable characters beyond ASCII: letters, marks, numbers, punctuation and symbols.
 *
 * A match has at most 100 characters, so a long string needs several matches. V8 interprets the
 * expression for the first match. It compiles the expression for the later matches, which are three
 * times as fast.
 */
const printed = /[[\p{L}\p{M}\p{N}\p{P}\p{S}]--[\0-\x7f]]{1,100}/vy

/**
 * A string of at most this length is escaped at once. For a longer string, the server first tests
 * whether the string needs any escaping, because most long strings do not.
 */
const SHORT_CHARACTERS = 64
const plain = /^[ !#-[\]-~]*$/

/**
 * Quotes a string like Go's %q. A long string is cut, because the string can come from a client.
 */
export const quote = (text: string): string => cutText(text, QUOTED_CHARACTERS_MAX, quoteWhole)

/**
 * Quotes a string of any length like Go's %q. Takes linear time, because a string can consist of
 * megabytes of characters that need escaping.
 */
export function quoteWhole(text: string): string {
  if (text.length > SHORT_CHARACTERS && plain.test(text)) return `"${text}"`
  const pieces = ['"']
  let from = 0
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    const end = code < 0x80 ? at + 1 : endOfPrinted(text, at)
    const escape =
      code < 0x80 ? escapes[code] : end === at ? escapeWide(text.codePointAt(at) ?? 0) : undefined
    if (escape === undefined) {
      at = end
      continue
    }
    if (at > from) pieces.push(text.slice(from, at))
    pieces.push(escape)
    at += (text.codePointAt(at) ?? 0) < 0x10000 ? 1 : 2
    from = at
  }
  pieces.push(text.slice(from), '"')
  return pieces.join('')
}

/**
 * Returns the end of the run of printable characters that begins at `at`. Returns `at` if there is
 * no printable character.
 */
function endOfPrinted(text: string, at: number): number {
  printed.lastIndex = at
  return printed.test(text) ? printed.lastIndex : at
}

function escapeWide(code: number): string {
  return code < 0x10000
    ? `\\u${code.toString(16).padStart(4, '0')}`
    : `\\U${code.toString(16).padStart(8, '0')}`
}
