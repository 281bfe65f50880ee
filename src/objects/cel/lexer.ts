/**
 * Splits the text into tokens. If several tokens match, the longest one is used. As in cel-go, text
 * that matches no token is reported and skipped, including the first character that no token could
 * continue with.
 */
import type { Slice } from './run.ts'
import type { Fault, Source } from './source.ts'
import { type Token, type TokenKind, tokenNames } from './tokens.ts'
import type { Turns } from './turns.ts'

export type LexResult = { readonly tokens: readonly Token[]; readonly faults: readonly Fault[] }

const words: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null'])
const marks = Object.keys(tokenNames).filter((mark) => /^[^a-z]+$/.test(mark))

export function* lex(source: Source, slice: Slice): Turns<LexResult> {
  const { points } = source
  const tokens: Token[] = []
  const faults: Fault[] = []
  let at = 0
  while (at < points.length) {
    if (slice.isOver()) yield undefined
    const blank = blankEnd(points, at)
    if (blank > at) {
      at = blank
      continue
    }
    const found = longestAt(points, at)
    if (found.kind === undefined) {
      faults.push({
        offset: at,
        message: `Syntax error: token recognition error at: '${shown(points, at, found.to)}'`,
      })
    } else {
      tokens.push({
        kind: found.kind,
        text: points.slice(at, found.to).join(''),
        from: at,
        to: found.to,
      })
    }
    at = found.to
  }
  tokens.push({ kind: 'end', text: '<EOF>', from: points.length, to: points.length })
  return { tokens, faults }
}

const shown = (points: readonly string[], from: number, to: number): string =>
  points
    .slice(from, to)
    .join('')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')

/**
 * A token and the position of its end. If no token matches, `kind` is undefined, and `to` is the
 * position after the first character with which no token could continue.
 */
type TokenMatch = { readonly kind: TokenKind | undefined; readonly to: number }

function blankEnd(points: readonly string[], from: number): number {
  let at = from
  while (at < points.length && /^[\t \r\n\f]$/.test(points[at] ?? '')) at++
  if (points[at] === '/' && points[at + 1] === '/') {
    while (at < points.length && points[at] !== '\n') at++
  }
  return at
}

function longestAt(points: readonly string[], at: number): TokenMatch {
  const first = points[at] ?? ''
  const text = stringAt(points, at)
  if (text?.kind !== undefined) return text
  if (isLetter(first)) return wordAt(points, at)
  if (isDigit(first) || (first === '.' && isDigit(points[at + 1]))) return numberAt(points, at)
  if (first === '`') return escapedAt(points, at)
  if (text !== undefined) return text
  const two = `${first}${points[at + 1] ?? ''}`
  if (marks.includes(two)) return { kind: kindOf(two), to: at + 2 }
  if (marks.includes(first)) return { kind: kindOf(first), to: at + 1 }
  // A single `=`, `&` or `|` could begin a token of two characters. So the character after it is
  // the one that does not match.
  const isHalf = marks.some((mark) => mark.length === 2 && mark.startsWith(first))
  return { kind: undefined, to: Math.min(at + (isHalf ? 2 : 1), points.length) }
}

function kindOf(mark: string): TokenKind | undefined {
  return isKind(mark) ? mark : undefined
}
const isKind = (mark: string): mark is TokenKind => mark in tokenNames

const isLetter = (point: string | undefined): boolean =>
  point !== undefined && /^[A-Za-z_]$/.test(point)
const isDigit = (point: string | undefined): boolean => point !== undefined && /^[0-9]$/.test(point)
const isHex = (point: string | undefined): boolean =>
  point !== undefined && /^[0-9A-Fa-f]$/.test(point)

function wordAt(points: readonly string[], from: number): TokenMatch {
  let to = from
  while (isLetter(points[to]) || isDigit(points[to])) to++
  const text = points.slice(from, to).join('')
  return { kind: words.has(text) ? kindOf(text) : 'identifier', to }
}

function escapedAt(points: readonly string[], from: number): TokenMatch {
  let to = from + 1
  while (/^[A-Za-z0-9_.\-/ ]$/.test(points[to] ?? '')) to++
  if (to > from + 1 && points[to] === '`') return { kind: 'escaped', to: to + 1 }
  return { kind: undefined, to: Math.min(to + 1, points.length) }
}

function numberAt(points: readonly string[], from: number): TokenMatch {
  const digits = (at: number, is: (point: string | undefined) => boolean): number => {
    let to = at
    while (is(points[to])) to++
    return to
  }
  const unsigned = (to: number): TokenMatch =>
    points[to] === 'u' || points[to] === 'U' ? { kind: 'uint', to: to + 1 } : { kind: 'int', to }
  if (points[from] === '0' && points[from + 1] === 'x' && isHex(points[from + 2]))
    return unsigned(digits(from + 2, isHex))
  const whole = digits(from, isDigit)
  const hasFraction = points[whole] === '.' && isDigit(points[whole + 1])
  const end = hasFraction ? digits(whole + 1, isDigit) : whole
  const exponent = exponentEnd(points, end)
  if (exponent !== undefined) return { kind: 'float', to: digits(exponent, isDigit) }
  return hasFraction ? { kind: 'float', to: end } : unsigned(whole)
}

/** Returns the position of the exponent's digits, or undefined if there is no exponent. */
function exponentEnd(points: readonly string[], at: number): number | undefined {
  if (points[at] !== 'e' && points[at] !== 'E') return undefined
  const digits = points[at + 1] === '+' || points[at + 1] === '-' ? at + 2 : at + 1
  return isDigit(points[digits]) ? digits : undefined
}

/**
 * Matches a string or bytes literal including its prefix. Returns undefined if no quote follows.
 */
function stringAt(points: readonly string[], from: number): TokenMatch | undefined {
  let at = from
  let isRaw = false
  let isBytes = false
  if (/^[bB]$/.test(points[at] ?? '') && /^["'rR]$/.test(points[at + 1] ?? '')) {
    isBytes = true
    at++
  }
  if (/^[rR]$/.test(points[at] ?? '') && /^["']$/.test(points[at + 1] ?? '')) {
    isRaw = true
    at++
  }
  const quote = points[at]
  if (quote !== '"' && quote !== "'") return undefined
  const isTriple = points[at + 1] === quote && points[at + 2] === quote
  const body = stringBodyEnd(points, at + (isTriple ? 3 : 1), { quote, isTriple, isRaw })
  if (body.isClosed) return { kind: isBytes ? 'bytes' : 'string', to: body.to }
  // Text that begins with `"""` but is never closed begins with an empty string, `""`.
  if (isTriple) return { kind: isBytes ? 'bytes' : 'string', to: at + 2 }
  return at > from ? wordBefore(points, from) : { kind: undefined, to: body.to }
}

/**
 * Matches letters before a quote that are not the prefix of a string, so they are an identifier.
 */
const wordBefore = (points: readonly string[], from: number): TokenMatch => wordAt(points, from)

type Style = { readonly quote: string; readonly isTriple: boolean; readonly isRaw: boolean }

function stringBodyEnd(
  points: readonly string[],
  from: number,
  style: Style,
): { isClosed: boolean; to: number } {
  let at = from
  while (at < points.length) {
    const point = points[at]
    if (
      point === style.quote &&
      (!style.isTriple || (points[at + 1] === point && points[at + 2] === point))
    ) {
      return { isClosed: true, to: at + (style.isTriple ? 3 : 1) }
    }
    if (!style.isTriple && (point === '\n' || point === '\r'))
      return { isClosed: false, to: at + 1 }
    if (point === '\\' && !style.isRaw) {
      const escape = escapeEnd(points, at + 1)
      if (!escape.isGood) return { isClosed: false, to: Math.min(escape.to, points.length) }
      at = escape.to
    } else at++
  }
  return { isClosed: false, to: points.length }
}

function escapeEnd(points: readonly string[], at: number): { isGood: boolean; to: number } {
  const letter = points[at] ?? ''
  if (/^[abfnrtv"'\\?`]$/.test(letter)) return { isGood: true, to: at + 1 }
  const wanted = { x: 2, X: 2, u: 4, U: 8 }[letter]
  const is = wanted === undefined ? /^[0-7]$/ : /^[0-9A-Fa-f]$/
  const start = wanted === undefined ? at : at + 1
  if (wanted === undefined && !/^[0-3]$/.test(letter)) return { isGood: false, to: at + 1 }
  for (let digit = 0; digit < (wanted ?? 3); digit++) {
    if (!is.test(points[start + digit] ?? '')) return { isGood: false, to: start + digit + 1 }
  }
  return { isGood: true, to: start + (wanted ?? 3) }
}
