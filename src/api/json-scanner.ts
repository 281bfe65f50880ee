/** A JSON tokenizer with the error messages of Go's decoder. Callers interpret the tokens. */
import {
  BACKSLASH,
  BRACE_CLOSE,
  BRACE_OPEN,
  BRACKET_CLOSE,
  BRACKET_OPEN,
  COLON,
  COMMA,
  MINUS,
  NINE,
  QUOTE,
  ZERO,
} from '../lib/bytes/ascii.ts'
import { isDivided, repeat } from '../lib/scheduling/parts.ts'
import type { Json } from './object.ts'
import { quote } from './quote.ts'

/** Maximum nesting depth, as in Go. */
const DEPTH_MAX = 10_000

/** Thrown if the input is not JSON. The message is the same as in Go. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
}

const SHORT_DIGITS_MAX = 16

export type JsonType = 'object' | 'array' | 'string' | 'number' | 'bool' | 'null'

/** Number of values that are skipped before the scanner checks whether to pause. */
const VALUES_PER_STEP = 64

/** Number of characters of a string that are read before the scanner checks whether to pause. */
const CHARACTERS_PER_STEP = 4096

/**
 * Maximum length of a string with escape sequences that is read without a pause. Longer ones are
 * read in parts.
 */
const LONG_STRING_CHARACTERS = 65_536

/** Value of `#insideAt` if the scanner is not inside a long string. */
const NOT_INSIDE = -1

/** Minimum length, in characters, of a list that `longList` returns. */
const LONG_LIST_CHARACTERS = 16_384

const numberForm = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

/**
 * Characters in strings that need special handling. A string without them ends at the next quote.
 */
// oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
const special = /[\\\u0000-\u001f]/

/**
 * Number of characters that are searched for a match of `special` at a time. The whole document is
 * not searched at once, because the caller might read only a part of it.
 */
const SEARCHED_CHARACTERS = 16_384

/**
 * Table indexed by character code: 1 for each character that forms an escape sequence with a
 * preceding backslash.
 */
const shortEscapes = Uint8Array.from({ length: 128 }, (_, code) =>
  '"\\/bfnrt'.includes(String.fromCharCode(code)) ? 1 : 0,
)
const SMALL_U = 0x75
const CODE_UNIT_DIGITS = 4

export class JsonScanner {
  readonly text: string
  at = 0
  readonly #isUndivided: boolean
  /**
   * The part of the document that was searched for a match of `special`, and the position of the
   * first match.
   */
  #searchedFrom = 0
  #searchedTo = 0
  #specialAt = Infinity
  /** Position inside a long string that is being skipped in parts. */
  #insideAt = NOT_INSIDE
  /**
   * The open objects (true) and arrays (false) of the value that is being skipped. The stack is
   * reused for the next value, because a document can have millions of short values.
   */
  readonly #open: boolean[] = []

  /**
   * Creates a scanner. `isUndivided` means that reading a value never pauses, not even in work that
   * is divided into parts.
   */
  constructor(text: string, { isUndivided = false }: { readonly isUndivided?: boolean } = {}) {
    this.text = text
    this.#isUndivided = isUndivided
  }

  get #isDivided(): boolean {
    return isDivided() && !this.#isUndivided
  }

  /** Skips whitespace, and returns the type of the value that begins after it. */
  peekType(): JsonType {
    this.#skipBlanks()
    const code = this.text.charCodeAt(this.at)
    if (code === QUOTE) return 'string'
    if (code === BRACE_OPEN) return 'object'
    if (code === BRACKET_OPEN) return 'array'
    if (code === MINUS || (code >= ZERO && code <= NINE)) return 'number'
    // t, f, n
    if (code === 0x74 || code === 0x66) return 'bool'
    if (code === 0x6e) return 'null'
    throw this.#fault('looking for beginning of value')
  }

  /** Skips `{`. If the object is empty, also skips its end, and returns false. */
  beginObject(): boolean {
    this.at++
    this.#skipBlanks()
    if (this.text.charCodeAt(this.at) !== BRACE_CLOSE) return true
    this.at++
    return false
  }

  /** Reads a key and skips its colon. */
  readKey(): string {
    this.#toKey()
    const key = this.readString()
    this.#skipColon()
    return key
  }

  #skipKey(): void {
    this.#toKey()
    this.#skipString()
    this.#skipColon()
  }

  #toKey(): void {
    this.#skipBlanks()
    if (this.text.charCodeAt(this.at) !== QUOTE)
      throw this.#fault('looking for beginning of object key string')
  }

  #skipColon(): void {
    this.#skipBlanks()
    if (this.text.charCodeAt(this.at) !== COLON) throw this.#fault('after object key')
    this.at++
  }

  /** Skips the comma after a value in an object. Returns false if the object ends there. */
  nextInObject(): boolean {
    this.#skipBlanks()
    const code = this.text.charCodeAt(this.at)
    if (code !== COMMA && code !== BRACE_CLOSE) throw this.#fault('after object key:value pair')
    this.at++
    return code === COMMA
  }

  beginArray(): boolean {
    this.at++
    this.#skipBlanks()
    if (this.text.charCodeAt(this.at) !== BRACKET_CLOSE) return true
    this.at++
    return false
  }

  nextInArray(): boolean {
    this.#skipBlanks()
    const code = this.text.charCodeAt(this.at)
    if (code !== COMMA && code !== BRACKET_CLOSE) throw this.#fault('after array element')
    this.at++
    return code === COMMA
  }

  /** Fails if the value is followed by anything but whitespace. */
  end(): void {
    this.#skipBlanks()
    if (this.at < this.text.length) throw this.#fault('after top-level value')
  }

  /**
   * Reads a string. Lone surrogates become U+FFFD. A long string with escapes can be read in parts.
   */
  readString(): string {
    const start = this.at + 1
    if (this.#skipPlainString(start)) return this.text.slice(start, this.at - 1)
    const end = this.#skipEscaped(
      start,
      this.#isDivided ? start + LONG_STRING_CHARACTERS : Infinity,
    )
    if (this.text.charCodeAt(end) !== QUOTE) return this.#readInParts(start)
    this.at = end + 1
    const value: string = JSON.parse(this.text.slice(start - 1, this.at))
    return value.toWellFormed()
  }

  #readInParts(start: number): string {
    const begin = (): { at: number; value: string } => ({ at: start, value: '' })
    const { at, value } = repeat(start, begin, (read) => {
      const end = this.#skipEscaped(read.at, read.at + CHARACTERS_PER_STEP)
      const piece: string = JSON.parse(`"${this.text.slice(read.at, end)}"`)
      read.value += piece
      read.at = end
      return this.text.charCodeAt(end) !== QUOTE
    })
    this.at = at + 1
    return value.toWellFormed()
  }

  #skipString(): void {
    const start = this.at + 1
    if (!this.#skipPlainString(start)) this.at = this.#skipEscaped(start, Infinity) + 1
  }

  /**
   * Like `#skipString`, but skips only the first part of a long string that has escape sequences.
   * `#skipInside` skips the other parts.
   */
  #skipShortString(): void {
    const start = this.at + 1
    if (this.#skipPlainString(start)) return
    const end = this.#skipEscaped(start, start + LONG_STRING_CHARACTERS)
    if (this.text.charCodeAt(end) === QUOTE) this.at = end + 1
    else this.#insideAt = end
  }

  /** Skips the next part of a long string. Returns false if the string continues. */
  #skipInside(): boolean {
    const end = this.#skipEscaped(this.#insideAt, this.#insideAt + CHARACTERS_PER_STEP)
    if (this.text.charCodeAt(end) !== QUOTE) {
      this.#insideAt = end
      return false
    }
    this.#insideAt = NOT_INSIDE
    this.at = end + 1
    return true
  }

  /**
   * Skips to the position after the closing quote. Returns false without moving if the string has
   * escapes or invalid characters.
   */
  #skipPlainString(start: number): boolean {
    const end = this.text.indexOf('"', start)
    if (end === -1) return false
    if (start < this.#searchedFrom || this.#specialAt < start || end > this.#searchedTo)
      this.#findSpecial(start, end)
    if (end > this.#specialAt) return false
    this.at = end + 1
    return true
  }

  /**
   * Skips a string with escape sequences, from `start` to its closing quote, or to the first
   * character at or after `until`. Returns the position of this quote or character.
   */
  #skipEscaped(start: number, until: number): number {
    const { text } = this
    for (let at = start; ; at++) {
      const code = text.charCodeAt(at)
      if (code === QUOTE || at >= until) return at
      if (code === BACKSLASH) {
        at++
        if (shortEscapes[text.charCodeAt(at)] !== 1) at = this.#skipCodeUnit(at)
      } else if (!(code >= 0x20)) {
        this.at = at
        throw this.#fault('in string literal')
      }
    }
  }

  /**
   * Finds the next match of `special`. The search can continue beyond the end of the current JSON
   * string, and its result is then used for later strings. Thus each part of the document is
   * searched only about once.
   */
  #findSpecial(start: number, end: number): void {
    const to = Math.max(end, start + SEARCHED_CHARACTERS)
    this.#searchedFrom = start
    this.#searchedTo = to
    const found = this.text.slice(start, to).search(special)
    this.#specialAt = found === -1 ? Infinity : start + found
  }

  /** Reads a number and returns its literal unchanged. */
  readNumber(): string {
    const start = this.at
    return this.#skipShortInteger() ? this.text.slice(start, this.at) : this.#readAnyNumber()
  }

  #skipNumber(): void {
    if (!this.#skipShortInteger()) this.#readAnyNumber()
  }

  /**
   * Skips a short integer without a regular expression, because most numbers are short integers.
   * Returns false without moving for any other number.
   */
  #skipShortInteger(): boolean {
    const { text, at } = this
    let end = at
    for (; end < at + SHORT_DIGITS_MAX; end++) {
      const code = text.charCodeAt(end)
      if (code < ZERO || code > NINE || Number.isNaN(code)) break
    }
    if (end === at || (end > at + 1 && text.charCodeAt(at) === ZERO)) return false
    const next = text.charCodeAt(end)
    if (next !== COMMA && next !== BRACE_CLOSE && next !== BRACKET_CLOSE) return false
    this.at = end
    return true
  }

  #readAnyNumber(): string {
    numberForm.lastIndex = this.at
    const literal = numberForm.exec(this.text)?.[0] ?? ''
    this.at += literal.length
    const next = this.text[this.at]
    if (literal === '') {
      this.at++
      throw this.#fault('in numeric literal')
    }
    // The regular expression does not match a malformed fraction or exponent, so the match ends
    // before it.
    if (next === '.' && !literal.includes('.') && !/[eE]/.test(literal)) {
      this.at++
      throw this.#fault('after decimal point in numeric literal')
    }
    if ((next === 'e' || next === 'E') && !/[eE]/.test(literal)) {
      this.at += /[+-]/.test(this.text[this.at + 1] ?? '') ? 2 : 1
      throw this.#fault('in exponent of numeric literal')
    }
    return literal
  }

  readBoolean(): boolean {
    const isTrue = this.text[this.at] === 't'
    this.#skipWord(isTrue ? 'true' : 'false')
    return isTrue
  }

  skipNull(): void {
    this.#skipWord('null')
  }

  /**
   * Skips a value of any type, without recursion. A long value can be skipped in parts, between
   * which the event loop runs other work (lib/scheduling/parts.ts).
   */
  skipValue(): void {
    if (this.#isDivided) {
      const type = this.peekType()
      if (type === 'string' && this.#skipPlainString(this.at + 1)) return
      if (type === 'object' || type === 'array' || type === 'string') return this.#skipInParts()
    }
    this.#open.length = 0
    this.skipPart(this.#open, Infinity)
  }

  #skipInParts(): void {
    const begin = (): { readonly open: boolean[]; at: number; insideAt: number } => ({
      open: [],
      at: this.at,
      insideAt: NOT_INSIDE,
    })
    const { at } = repeat(this.at, begin, (skipped) => {
      this.at = skipped.at
      this.#insideAt = skipped.insideAt
      const isDone = this.skipPart(skipped.open, VALUES_PER_STEP)
      skipped.at = this.at
      skipped.insideAt = this.#insideAt
      this.#insideAt = NOT_INSIDE
      return !isDone
    })
    this.at = at
  }

  /**
   * Skips up to `values` values, including nested ones. Returns false if the value is longer, and
   * the caller has to call again. `open` is the stack of open objects (true) and arrays (false); it
   * is empty in the first call.
   */
  skipPart(open: boolean[], values: number): boolean {
    for (let passed = 0; passed < values; passed++) {
      if (this.#insideAt === NOT_INSIDE && this.#skipStart(open, values === Infinity)) continue
      if (this.#insideAt !== NOT_INSIDE && !this.#skipInside()) return false
      for (;;) {
        const isObject = open.at(-1)
        if (isObject === undefined) return true
        if (isObject ? this.nextInObject() : this.nextInArray()) {
          if (isObject) this.#skipKey()
          break
        }
        open.pop()
      }
    }
    return false
  }

  /**
   * Skips a scalar, or only the opening bracket of an object or array. In the latter case, returns
   * true unless the object or array is empty. `isWhole` means that the scanner does not pause
   * inside the value, so strings and long lists of numbers are skipped at once.
   */
  #skipStart(open: boolean[], isWhole: boolean): boolean {
    switch (this.peekType()) {
      case 'object':
        if (!this.beginObject()) return false
        this.#push(open, true)
        this.#skipKey()
        return true
      case 'array':
        if ((isWhole && this.#skipLongList()) || !this.beginArray()) return false
        this.#push(open, false)
        return true
      case 'string':
        if (isWhole) this.#skipString()
        else this.#skipShortString()
        return false
      case 'number':
        this.#skipNumber()
        return false
      case 'bool':
        this.readBoolean()
        return false
      case 'null':
        this.skipNull()
        return false
    }
  }

  /**
   * Returns the text of a long list that might contain only numbers. Returns undefined for other
   * lists. JSON.parse reads a list of numbers in half the time that this class needs, but reads a
   * list of strings more slowly.
   */
  longList(): string | undefined {
    const { text, at } = this
    if (text.length - at < LONG_LIST_CHARACTERS) return undefined
    const next = text.indexOf('[', at + 1)
    if (next !== -1 && next - at < LONG_LIST_CHARACTERS) return undefined
    // Search for the end of this list only up to the next opening bracket. If the text has many
    // nested lists, it would otherwise be scanned once for each of them.
    const length = text.slice(at, next === -1 ? text.length : next).indexOf(']') + 1
    if (length < LONG_LIST_CHARACTERS) return undefined
    const list = text.slice(at, at + length)
    return list.includes('{') || list.includes('"') ? undefined : list
  }

  #skipLongList(): boolean {
    const list = this.longList()
    if (list === undefined || parsedList(list) === undefined) return false
    this.at += list.length
    return true
  }

  #push(open: boolean[], isObject: boolean): void {
    open.push(isObject)
    if (open.length >= DEPTH_MAX) throw this.tooDeep()
  }

  /**
   * Returns the error for an object or array that is nested too deeply. Call this method directly
   * after its opening bracket was read.
   */
  tooDeep(): JsonSyntaxError {
    this.at--
    return this.#fault('exceeded max depth')
  }

  /** Skips a `\u` escape, from the `u` to its last digit. */
  #skipCodeUnit(start: number): number {
    const { text } = this
    if (text.charCodeAt(start) !== SMALL_U) {
      this.at = start
      throw this.#fault('in string escape code')
    }
    for (let at = start + 1; at <= start + CODE_UNIT_DIGITS; at++) {
      if (isHexDigit(text.charCodeAt(at))) continue
      this.at = at
      throw this.#fault('in \\u hexadecimal character escape')
    }
    return start + CODE_UNIT_DIGITS
  }

  #skipWord(word: string): void {
    for (const character of word) {
      if (this.text[this.at] !== character)
        throw this.#fault(`in literal ${word} (expecting '${character}')`)
      this.at++
    }
  }

  #skipBlanks(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.at++
    }
  }

  #fault(where: string): JsonSyntaxError {
    if (this.at >= this.text.length) return new JsonSyntaxError('unexpected end of JSON input')
    return new JsonSyntaxError(`invalid character ${this.#shownCharacter()} ${where}`)
  }

  /**
   * Returns the current character for an error message. Go reports a byte. For a character beyond
   * ASCII, this is the first byte of its UTF-8 encoding.
   */
  #shownCharacter(): string {
    const character = String.fromCodePoint(this.text.codePointAt(this.at) ?? 0)
    if (character === "'") return "'\\''"
    if (character === '"') return "'\"'"
    const byte = Buffer.from(character, 'utf8')[0] ?? 0
    return `'${quote(String.fromCharCode(byte)).slice(1, -1)}'`
  }
}

/**
 * Parses a list. Returns undefined if the text is not JSON. The scanner must then read the list to
 * find the error.
 */
export function parsedList(list: string): Json[] | undefined {
  try {
    return JSON.parse(list)
  } catch {
    return undefined
  }
}

/**
 * Returns the error that Go reports if the input is not JSON of the wanted type. Returns undefined
 * if there is no error. Null is accepted for both types.
 */
export function jsonFault(text: string, wanted: 'object' | 'array'): string | undefined {
  const scanner = new JsonScanner(text)
  try {
    const type = scanner.peekType()
    scanner.skipValue()
    scanner.end()
    if (type === wanted || type === 'null') return undefined
    const goType = wanted === 'object' ? 'map[string]interface {}' : '[]interface {}'
    return `json: cannot unmarshal ${type} into Go value of type ${goType}`
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message
    throw error
  }
}

/**
 * Returns whether a character code is one of 0-9, A-F, a-f. Setting bit 0x20 converts a letter to
 * lower case.
 */
function isHexDigit(code: number): boolean {
  const letter = code | 0x20
  return (code >= ZERO && code <= NINE) || (letter >= 0x61 && letter <= 0x66)
}
