/**
 * Prints values as YAML, with exactly the same bytes as kube-apiserver's library. The output is in
 * block style, with keys in natural order (yaml-order.ts). Strings are plain if they would be
 * parsed as strings. Lines longer than 80 characters are folded at spaces.
 */
import { type Fields, fieldsOf, isFields, type Json } from '../../api/object.ts'
import { BACKSLASH, QUOTE, SPACE } from '../../lib/bytes/ascii.ts'
import { resolveScalar } from './yaml-scalar.ts'
import { sortNatural } from './yaml-order.ts'
import { analyse, ESCAPES, isBase60, needsEscape } from './yaml-text.ts'

const INDENT = 2
const LINE_CHARACTERS_BEST = 80
const DELETE = 0x7f
/** Maximum size of a key that is followed by a colon. A larger key begins with `? `. */
const SIMPLE_KEY_BYTES_MAX = 128

export type YamlOptions = {
  /**
   * Whether parsing the YAML must return the same value. This is not the default, because clients
   * compare the output with that of kube-apiserver, which replaces U+0085 by spaces.
   */
  readonly isExact?: boolean
}

/** Prints a value as YAML. The text ends with a newline. */
export function jsonToYaml(value: Json, options: YamlOptions = {}): string {
  let text = ''
  for (const piece of yamlPieces(value, options)) if (piece !== undefined) text += piece
  return text
}

/**
 * Yields the text of `jsonToYaml` in pieces of a few kilobytes. In between, yields undefined, so
 * that the caller can interrupt the work.
 */
export function yamlPieces(value: Json, { isExact = false }: YamlOptions = {}): Pieces {
  return new Printer(isExact).root(value)
}

type Pieces = Generator<string | undefined, void, void>

/**
 * Length of a piece. A piece is printed in some tens of microseconds, so interruptions between
 * pieces cost little time in comparison.
 */
const PIECE_CHARACTERS = 16 << 10
/**
 * Texts up to this length are parsed to find out whether they are a number. A longer text is always
 * quoted if it begins like a number.
 */
const NUMBER_CHARACTERS_MAX = 64 << 10

class Printer {
  #parts: string[] = []
  #characters = 0
  readonly #isExact: boolean
  #column = 0

  constructor(isExact: boolean) {
    this.#isExact = isExact
  }

  *root(value: Json): Pieces {
    const keys = keysOf(value)
    if (keys.length > 0) yield* this.#mapping(fieldsOf(value), keys, 0)
    else if (Array.isArray(value) && value.length > 0) yield* this.#sequence(value, 0)
    else yield* this.#inline(value, 0)
    this.#newline()
    yield this.#piece()
  }

  /** Prints a map. The first entry begins at the current position in the line. */
  *#mapping(fields: Fields, keys: readonly string[], indent: number): Pieces {
    let isFirst = true
    for (const key of yield* sortNatural(keys)) {
      if (!isFirst) this.#indentTo(indent)
      isFirst = false
      yield* this.#entry(key, fields[key] ?? null, indent)
      if (this.#isLong) yield this.#piece()
    }
  }

  *#entry(key: string, value: Json, indent: number): Pieces {
    const isSimple =
      Buffer.byteLength(key) <= SIMPLE_KEY_BYTES_MAX && !/[\n\r\u0085\u2028\u2029]/.test(key)
    if (isSimple) {
      yield* this.#string(key, indent + INDENT, true)
      this.#write(':')
    } else {
      this.#write('? ')
      yield* this.#string(key, indent + INDENT, false)
      this.#indentTo(indent)
      this.#write(':')
    }
    const keys = keysOf(value)
    if (keys.length > 0) {
      if (isSimple) this.#indentTo(indent + INDENT)
      else this.#write(' ')
      return yield* this.#mapping(fieldsOf(value), keys, indent + INDENT)
    }
    if (Array.isArray(value) && value.length > 0) {
      // List items have the same indentation as the key of the list.
      if (isSimple) this.#indentTo(indent)
      else this.#write(' ')
      return yield* this.#sequence(value, isSimple ? indent : indent + INDENT)
    }
    this.#write(' ')
    yield* this.#inline(value, indent)
  }

  *#sequence(items: readonly Json[], indent: number): Pieces {
    let isFirst = true
    for (const item of items) {
      if (!isFirst) this.#indentTo(indent)
      isFirst = false
      this.#write('- ')
      const keys = keysOf(item)
      if (keys.length > 0) yield* this.#mapping(fieldsOf(item), keys, indent + INDENT)
      else if (Array.isArray(item) && item.length > 0) yield* this.#sequence(item, indent + INDENT)
      else yield* this.#inline(item, indent)
      if (this.#isLong) yield this.#piece()
    }
  }

  *#inline(value: Json, indent: number): Pieces {
    if (typeof value === 'string') yield* this.#string(value, indent + INDENT, false)
    else if (typeof value === 'number') this.#write(printNumber(value))
    else if (typeof value !== 'object' || value === null) this.#write(`${value}`)
    else this.#write(isFields(value) ? '{}' : '[]')
  }

  *#string(given: string, indent: number, isKey: boolean): Pieces {
    const text = given.includes('\u0085') && !this.#isExact ? foldNextLines(given) : given
    const { isPlainAllowed, isSingleAllowed, isBlockAllowed } = yield* analyse(text)
    if (text.includes('\n')) {
      if (isBlockAllowed && !isKey && !(this.#isExact && /[\u2028\u2029]/.test(text)))
        return yield* this.#literal(text, indent)
      return yield* this.#double(text, indent, isKey)
    }
    if (!isString(text)) return yield* this.#double(text, indent, isKey)
    if (isPlainAllowed) return yield* this.#folded(text, indent, isKey)
    if (!isSingleAllowed) return yield* this.#double(text, indent, isKey)
    this.#write("'")
    yield* this.#folded(text.replaceAll("'", "''"), indent, isKey)
    this.#write("'")
  }

  /**
   * Prints a text that can be folded: if a line is too long, a line break replaces a single space.
   * Parsers convert it back to a space.
   */
  *#folded(text: string, indent: number, isKey: boolean): Pieces {
    if (isKey || this.#column + text.length <= LINE_CHARACTERS_BEST) return this.#write(text)
    let from = 0
    let column = this.#column
    for (let at = 0; at < text.length; at++) {
      if (at - from > PIECE_CHARACTERS) {
        this.#write(text.slice(from, at))
        from = at
        yield this.#piece()
      }
      const code = text.charCodeAt(at)
      const isLoneSpace =
        code === 0x20 &&
        at > 0 &&
        text[at - 1] !== ' ' &&
        at < text.length - 1 &&
        text[at + 1] !== ' '
      if (isLoneSpace && column > LINE_CHARACTERS_BEST) {
        this.#write(text.slice(from, at))
        this.#indentTo(indent)
        from = at + 1
        column = indent
        if (this.#isLong) yield this.#piece()
      } else if (code < 0xdc00 || code > 0xdfff) column++
    }
    this.#write(text.slice(from))
  }

  *#double(text: string, indent: number, isKey: boolean): Pieces {
    this.#write('"')
    let wasSpace = false
    for (let at = 0, end = 0; at < text.length; at = end) {
      end = endOfPlain(text, at)
      if (end > at) {
        this.#write(text.slice(at, end))
        wasSpace = false
        continue
      }
      const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
      end = at + character.length
      if (needsEscape(character)) {
        this.#write(escaped(character))
        wasSpace = false
      } else if (character === ' ') {
        const isInside = at > 0 && end < text.length
        if (!isKey && !wasSpace && this.#column > LINE_CHARACTERS_BEST && isInside) {
          this.#indentTo(indent)
          // Escape a space at the start of the new line. Parsers would otherwise drop it.
          if (text[end] === ' ') this.#write('\\')
        } else this.#write(character)
        wasSpace = true
      } else {
        this.#write(character)
        wasSpace = false
      }
      if (this.#isLong) yield this.#piece()
    }
    this.#write('"')
  }

  *#literal(text: string, indent: number): Pieces {
    const startHint = /^[ \n]/.test(text) ? `${INDENT}` : ''
    const endHint = text.endsWith('\n\n') || text === '\n' ? '+' : text.endsWith('\n') ? '' : '-'
    this.#write(`|${startHint}${endHint}`)
    const last = text.endsWith('\n') ? text.length - 1 : text.length
    for (let at = 0, end = 0; at <= last; at = end + 1) {
      end = text.indexOf('\n', at)
      if (end === -1 || end > last) end = last
      if (end === at) this.#newline()
      else {
        this.#indentTo(indent)
        this.#write(text.slice(at, end))
      }
      if (this.#isLong) yield this.#piece()
    }
  }

  get #isLong(): boolean {
    return this.#characters > PIECE_CHARACTERS
  }

  #piece(): string {
    const piece = this.#parts.join('')
    this.#parts = []
    this.#characters = 0
    return piece
  }

  #write(text: string): void {
    this.#parts.push(text)
    this.#characters += text.length
    this.#column += text.length
  }

  #newline(): void {
    this.#parts.push('\n')
    this.#characters++
    this.#column = 0
  }

  #indentTo(indent: number): void {
    this.#parts.push(`\n${' '.repeat(indent)}`)
    this.#characters += 1 + indent
    this.#column = indent
  }
}

/**
 * Returns the end of a sequence of ASCII characters that need no escape sequence between double
 * quotes.
 */
function endOfPlain(text: string, start: number): number {
  const last = Math.min(text.length, start + PIECE_CHARACTERS)
  for (let at = start; at < last; at++) {
    const code = text.charCodeAt(at)
    if (code <= SPACE || code >= DELETE || code === QUOTE || code === BACKSLASH) return at
  }
  return last
}

/** Whether a text without quotes is parsed as a string. */
function isString(text: string): boolean {
  if (text.length > NUMBER_CHARACTERS_MAX) return !/^[-+.0-9]/.test(text)
  const { kind } = resolveScalar(text)
  return (kind === 'string' || kind === 'merge') && !isBase60(text)
}

const noKeys: readonly string[] = []

/** Returns the keys of an object. Returns an empty list for any other value. */
const keysOf = (value: Json): readonly string[] =>
  isFields(value) ? Object.keys(value).filter((key) => value[key] !== undefined) : noKeys

/**
 * Replaces each U+0085 and the spaces around it in the same way as YAML folds a line break.
 * kube-apiserver parses its JSON as YAML before printing it, and U+0085 is a line break in YAML.
 */
function foldNextLines(text: string): string {
  let folded = ''
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf('\u0085', at)
    if (found === -1) return folded + text.slice(at)
    let start = found
    while (start > at && text[start - 1] === ' ') start--
    let count = 0
    let end = found
    for (; text[end] === ' ' || text[end] === '\u0085'; end++) if (text[end] === '\u0085') count++
    folded += text.slice(at, start) + (count === 1 ? ' ' : '\n'.repeat(count - 1))
    at = end
  }
  return folded
}

function escaped(character: string): string {
  const known = ESCAPES[character]
  if (known !== undefined) return known
  const code = character.codePointAt(0) ?? 0
  const hex = code.toString(16).toUpperCase()
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}

/**
 * Upper bound of the integers that Go's YAML library parses: 64 bits, with or without a sign. It
 * parses all other numbers as floats.
 */
const INTEGER_END = 2 ** 64

/**
 * Prints a number in Go's shortest format. Numbers from one million and below one ten-thousandth
 * have an exponent.
 */
function printNumber(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf'
  if (Number.isInteger(value) && value > -INTEGER_END / 2 && value < INTEGER_END) return `${value}`
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e')
  const exponent = Number(exponentText)
  if (exponent >= -4 && exponent < 6) return `${value}`
  const digits = String(Math.abs(exponent)).padStart(2, '0')
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`
}
