/** Indents JSON that is printed already, without reading its values: numbers keep their digits, fields their order. */
import {
  BACKSLASH,
  BRACE_CLOSE,
  BRACE_OPEN,
  BRACKET_CLOSE,
  BRACKET_OPEN,
  COLON,
  COMMA,
  NEWLINE,
  QUOTE,
} from '../lib/ascii.ts'

/**
 * `compact` has no whitespace between its tokens. The result ends without a newline, as upstream's does. `startDepth`: the depth of the
 * value in a larger document, by which all lines but the first are indented.
 */
export function indentJson(compact: string, startDepth = 0): string {
  const parts: string[] = []
  let depth = startDepth
  let from = 0
  const cut = (to: number, between: string): void => {
    parts.push(compact.slice(from, to), between)
    from = to
  }
  for (let at = 0; at < compact.length; at++) {
    const code = compact.charCodeAt(at)
    if (code === QUOTE) at = endOfString(compact, at)
    else if (code === BRACE_OPEN || code === BRACKET_OPEN) {
      const next = compact.charCodeAt(at + 1)
      if (next === BRACE_CLOSE || next === BRACKET_CLOSE) at++
      else cut(at + 1, newLine(++depth))
    } else if (code === BRACE_CLOSE || code === BRACKET_CLOSE) cut(at, newLine(--depth))
    else if (code === COMMA) cut(at + 1, newLine(depth))
    else if (code === COLON) cut(at + 1, ' ')
    else if (code === NEWLINE) {
      cut(at, '')
      from = at + 1
    }
  }
  parts.push(compact.slice(from))
  return parts.join('')
}

const newLine = (depth: number): string => `\n${'  '.repeat(depth)}`

/** Where the string ends that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at++
    else if (code === QUOTE) return at
  }
  return text.length
}
