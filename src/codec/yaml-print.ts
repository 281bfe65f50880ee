/**
 * Values as YAML, byte for byte as kube-apiserver's library prints them: block style, keys in a natural order, strings plain
 * where they would be read back as strings, folded at spaces once a line is longer than 80 characters.
 */
import { type Fields, isFields, type Json } from '../api/object.ts'
import { resolveScalar } from './yaml-scalar.ts'
import { compareNatural } from './yaml-order.ts'
import { analyse, ESCAPES, isBase60, needsEscape } from './yaml-text.ts'

const INDENT = 2
const LINE_CHARACTERS_BEST = 80
/** A longer key is written as `? key`. */
const SIMPLE_KEY_BYTES_MAX = 128

export type YamlOptions = {
  /**
   * Reads back as what it was. Not by default: upstream makes spaces of U+0085, and what it prints is what clients compare with.
   */
  readonly isExact?: boolean
}

/** Ends with a newline. */
export function jsonToYaml(value: Json, { isExact = false }: YamlOptions = {}): string {
  const printer = new Printer(isExact)
  printer.root(value)
  return printer.text
}

class Printer {
  readonly #parts: string[] = []
  readonly #isExact: boolean
  #column = 0

  constructor(isExact: boolean) {
    this.#isExact = isExact
  }

  get text(): string {
    return this.#parts.join('')
  }

  root(value: Json): void {
    if (isFields(value) && hasFields(value)) this.#mapping(value, 0, true)
    else if (Array.isArray(value) && value.length > 0) this.#sequence(value, 0, true)
    else this.#inline(value, 0)
    this.#newline()
  }

  /** `isHere`: the first entry begins at the current position of the line. */
  #mapping(fields: Fields, indent: number, isHere: boolean): void {
    let isFirst = isHere
    const keys = Object.keys(fields).filter((key) => fields[key] !== undefined)
    for (const key of keys.sort(compareNatural)) {
      if (!isFirst) this.#indentTo(indent)
      isFirst = false
      this.#entry(key, fields[key] ?? null, indent)
    }
  }

  #entry(key: string, value: Json, indent: number): void {
    const isSimple = Buffer.byteLength(key) <= SIMPLE_KEY_BYTES_MAX && !/[\n\r\u0085\u2028\u2029]/.test(key)
    if (isSimple) {
      this.#string(key, indent + INDENT, true)
      this.#write(':')
    } else {
      this.#write('? ')
      this.#string(key, indent + INDENT, false)
      this.#indentTo(indent)
      this.#write(':')
    }
    if (isFields(value) && hasFields(value)) {
      if (isSimple) this.#indentTo(indent + INDENT)
      else this.#write(' ')
      return this.#mapping(value, indent + INDENT, true)
    }
    if (Array.isArray(value) && value.length > 0) {
      // The items of a list are not indented further than its key.
      if (isSimple) this.#indentTo(indent)
      else this.#write(' ')
      return this.#sequence(value, isSimple ? indent : indent + INDENT, true)
    }
    this.#write(' ')
    this.#inline(value, indent)
  }

  #sequence(items: readonly Json[], indent: number, isHere: boolean): void {
    let isFirst = isHere
    for (const item of items) {
      if (!isFirst) this.#indentTo(indent)
      isFirst = false
      this.#write('- ')
      if (isFields(item) && hasFields(item)) this.#mapping(item, indent + INDENT, true)
      else if (Array.isArray(item) && item.length > 0) this.#sequence(item, indent + INDENT, true)
      else this.#inline(item, indent)
    }
  }

  #inline(value: Json, indent: number): void {
    if (typeof value === 'string') this.#string(value, indent + INDENT, false)
    else if (typeof value === 'number') this.#write(printNumber(value))
    else if (typeof value !== 'object' || value === null) this.#write(`${value}`)
    else this.#write(isFields(value) ? '{}' : '[]')
  }

  #string(given: string, indent: number, isKey: boolean): void {
    const text = given.includes('\u0085') && !this.#isExact ? foldNextLines(given) : given
    const { isPlainAllowed, isSingleAllowed, isBlockAllowed } = analyse(text)
    if (text.includes('\n')) {
      if (isBlockAllowed && !isKey && !(this.#isExact && /[\u2028\u2029]/.test(text)))
        return this.#literal(text, indent)
      return this.#double(text, indent, isKey)
    }
    const { kind } = resolveScalar(text)
    const isString = (kind === 'string' || kind === 'merge') && !isBase60(text)
    if (!isString) return this.#double(text, indent, isKey)
    if (isPlainAllowed) return this.#folded(text, indent, isKey)
    if (!isSingleAllowed) return this.#double(text, indent, isKey)
    this.#write("'")
    this.#folded(text.replaceAll("'", "''"), indent, isKey)
    this.#write("'")
  }

  /** A single space beyond the best width becomes a line break, which a reader folds back. */
  #folded(text: string, indent: number, isKey: boolean): void {
    if (isKey || this.#column + text.length <= LINE_CHARACTERS_BEST) return this.#write(text)
    let from = 0
    let column = this.#column
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      const isLoneSpace =
        code === 0x20 && at > 0 && text[at - 1] !== ' ' && at < text.length - 1 && text[at + 1] !== ' '
      if (isLoneSpace && column > LINE_CHARACTERS_BEST) {
        this.#write(text.slice(from, at))
        this.#indentTo(indent)
        from = at + 1
        column = indent
      } else if (code < 0xdc00 || code > 0xdfff) column++
    }
    this.#write(text.slice(from))
  }

  #double(text: string, indent: number, isKey: boolean): void {
    this.#write('"')
    let wasSpace = false
    const characters = Array.from(text)
    for (const [at, character] of characters.entries()) {
      if (needsEscape(character)) {
        this.#write(escaped(character))
        wasSpace = false
      } else if (character === ' ') {
        const isInside = at > 0 && at < characters.length - 1
        if (!isKey && !wasSpace && this.#column > LINE_CHARACTERS_BEST && isInside) {
          this.#indentTo(indent)
          // A reader would take a leading space as part of the fold.
          if (characters[at + 1] === ' ') this.#write('\\')
        } else this.#write(character)
        wasSpace = true
      } else {
        this.#write(character)
        wasSpace = false
      }
    }
    this.#write('"')
  }

  #literal(text: string, indent: number): void {
    const startHint = /^[ \n]/.test(text) ? `${INDENT}` : ''
    const endHint = text.endsWith('\n\n') || text === '\n' ? '+' : text.endsWith('\n') ? '' : '-'
    this.#write(`|${startHint}${endHint}`)
    const lines = text.endsWith('\n') ? text.slice(0, -1).split('\n') : text.split('\n')
    for (const line of lines) {
      if (line === '') this.#newline()
      else {
        this.#indentTo(indent)
        this.#write(line)
      }
    }
  }

  #write(text: string): void {
    this.#parts.push(text)
    this.#column += text.length
  }

  #newline(): void {
    this.#parts.push('\n')
    this.#column = 0
  }

  #indentTo(indent: number): void {
    this.#parts.push(`\n${' '.repeat(indent)}`)
    this.#column = indent
  }
}

function hasFields(fields: Fields): boolean {
  for (const key in fields) if (fields[key] !== undefined) return true
  return false
}

/** Upstream reads its own JSON as YAML before it prints it, and there a U+0085 is a line break that is folded. */
function foldNextLines(text: string): string {
  return text.replace(/ *\u0085(?: *\u0085)* */g, (breaks) => {
    const count = breaks.replaceAll(' ', '').length
    return count === 1 ? ' ' : '\n'.repeat(count - 1)
  })
}

function escaped(character: string): string {
  const known = ESCAPES[character]
  if (known !== undefined) return known
  const code = character.codePointAt(0) ?? 0
  const hex = code.toString(16).toUpperCase()
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}

/** What Go's YAML library reads as an integer: 64 bits, with or without a sign. All else is a float to it. */
const INTEGER_END = 2 ** 64

/** Go's shortest form: with an exponent from a million on and below a ten-thousandth. */
function printNumber(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf'
  if (Number.isInteger(value) && value > -INTEGER_END / 2 && value < INTEGER_END) return `${value}`
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e')
  const exponent = Number(exponentText)
  if (exponent >= -4 && exponent < 6) return `${value}`
  const digits = String(Math.abs(exponent)).padStart(2, '0')
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`
}
