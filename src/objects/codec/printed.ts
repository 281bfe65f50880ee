/**
 * Checks whether JSON is exactly what print.ts would print for the same object. If so, the JSON can
 * be sent as it is. Checking it is much faster than decoding and printing it. In case of doubt, the
 * check fails. It also fails if a field outside of the status has a zero value that decoding would
 * drop.
 */
import {
  BACKSLASH,
  BRACE_CLOSE,
  BRACE_OPEN,
  BRACKET_CLOSE,
  BRACKET_OPEN,
  COLON,
  COMMA,
  MINUS,
  NEWLINE,
  NINE,
  QUOTE,
  SMALL_F,
  SMALL_N,
  SMALL_T,
  ZERO,
} from '../../lib/bytes/ascii.ts'
import { PackedBytes } from '../../lib/bytes/packed-bytes.ts'
import type { Field, Schema, Struct } from '../schema/schema.ts'
import { printString } from './json.ts'
import { readBase64, readQuantity, readTime } from './scalars.ts'

/**
 * Maximum number of digits of numbers that are not parsed. All numbers with this number of digits
 * are valid for the type, and exact in JavaScript.
 */
const DIGITS_MAX = { int32: 9, int64: 15 } as const
const DEPTH_MAX = 100

const notPrinted = new Error('the JSON is not what print.ts would print')

/**
 * Table with 1 for each byte that needs no escape sequence in a JSON string: ASCII characters
 * except `"`, `\`, `<`, `>` and `&`.
 */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[ !#-%'-;=?-[\]-~]/.test(String.fromCharCode(byte)) ? 1 : 0,
)

type FieldPlan = {
  /** The key as it is printed, such as `"name":`. */
  readonly key: Buffer
  readonly field: Field
  readonly isNullable: boolean
  readonly struct: readonly FieldPlan[] | undefined
}

export class PrintedCheck {
  readonly #plans = new WeakMap<Struct, FieldPlan[]>()
  /** Stores the JSON keys of all compiled structs. */
  readonly #bytes = new PackedBytes()
  #json: Buffer = Buffer.alloc(0)
  #at = 0
  #depth = 0
  /** Whether the current position is inside the field `status` of the object. */
  #isStatus = false

  /** Whether print.ts would print exactly this JSON. It must end with a newline. */
  isPrinted(json: Buffer, struct: Struct): boolean {
    this.#json = json
    this.#at = 0
    this.#depth = 0
    this.#isStatus = false
    try {
      this.#struct(this.#planOf(struct))
      this.#pass(NEWLINE)
      return this.#at === json.length
    } catch (error) {
      if (error === notPrinted) return false
      throw error
    } finally {
      this.#json = nothing
    }
  }

  #planOf(struct: Struct): readonly FieldPlan[] {
    const known = this.#plans.get(struct)
    if (known !== undefined) return known
    const made: FieldPlan[] = []
    // Cache the type before its fields are compiled, because they can contain the type again.
    this.#plans.set(struct, made)
    for (const field of struct.fields) {
      const { schema, isPointer, omit, name } = field
      made.push({
        key: this.#bytes.put(Buffer.from(`"${name}":`)),
        field,
        isNullable: omit === 'never' && (isPointer || nullable.has(schema.type)),
        struct: schema.type === 'struct' ? this.#planOf(schema) : undefined,
      })
    }
    return made
  }

  #struct(fields: readonly FieldPlan[]): void {
    if (++this.#depth > DEPTH_MAX) throw notPrinted
    this.#pass(BRACE_OPEN)
    let isFirst = true
    for (const plan of fields) {
      const at = isFirst ? this.#at : this.#at + 1
      if (!this.#isKey(plan.key, at)) {
        if (plan.field.omit === 'never') throw notPrinted
        continue
      }
      if (!isFirst) this.#pass(COMMA)
      isFirst = false
      this.#at += plan.key.length
      if (this.#depth === 1) this.#isStatus = plan.field.name === 'status'
      this.#field(plan)
    }
    this.#pass(BRACE_CLOSE)
    this.#depth--
  }

  #isKey(key: Buffer, at: number): boolean {
    const json = this.#json
    const { length } = key
    if (json[at + 1] !== key[1]) return false
    for (let i = 0; i < length; i++) if (json[at + i] !== key[i]) return false
    return true
  }

  #field({ field, isNullable, struct }: FieldPlan): void {
    const { schema, isPointer, omit } = field
    if (this.#json[this.#at] === SMALL_N) {
      if (!isNullable) throw notPrinted
      this.#at += 'null'.length
      return
    }
    const start = this.#at
    if (struct === undefined) this.#value(schema)
    else this.#struct(struct)
    if (!this.#isZero(start)) return
    // An empty struct may be printed only if it is a pointer in Go, or if the field is never
    // omitted.
    const isCollection = schema.type === 'list' || schema.type === 'map'
    if (omit === 'empty' || (!isPointer && isCollection) || (!isPointer && omit === 'absent'))
      throw notPrinted
    // Decoding treats this zero value as an absent field, which might then get a default.
    if (!isPointer && schema.type !== 'struct' && !this.#isStatus) throw notPrinted
  }

  /** Whether the value from `start` to the current position is `""`, `0`, `false`, `[]` or `{}`. */
  #isZero(start: number): boolean {
    const length = this.#at - start
    const first = this.#json[start]
    if (length === 1) return first === ZERO
    if (length === 2) return first === QUOTE || first === BRACKET_OPEN || first === BRACE_OPEN
    return first === SMALL_F
  }

  #value(schema: Schema): void {
    switch (schema.type) {
      case 'struct':
        return this.#struct(this.#planOf(schema))
      case 'list':
        return this.#list(schema.of)
      case 'map':
        return this.#map(schema.of)
      case 'string':
        return this.#text()
      case 'boolean':
        return this.#boolean()
      case 'int32':
      case 'int64':
        return this.#integer(DIGITS_MAX[schema.type])
      case 'intOrString':
        return this.#json[this.#at] === QUOTE ? this.#text() : this.#integer(DIGITS_MAX.int32)
      case 'time':
      case 'microTime': {
        const read = readTime(this.#asciiText(), schema.type)
        return this.#must(
          'text' in read && this.#isLast(read.text) && !read.text.startsWith('0001-'),
        )
      }
      case 'quantity': {
        const read = readQuantity(this.#asciiText())
        return this.#must('text' in read && this.#isLast(read.text))
      }
      case 'bytes': {
        const read = readBase64(this.#asciiText())
        return this.#must('text' in read && this.#isLast(read.text))
      }
      case 'raw':
        return this.#raw()
      case 'any':
      case 'float64':
        throw notPrinted
    }
  }

  #must(isSo: boolean): void {
    if (!isSo) throw notPrinted
  }

  #pass(byte: number): void {
    if (this.#json[this.#at++] !== byte) throw notPrinted
  }

  #list(of: Schema): void {
    this.#pass(BRACKET_OPEN)
    if (this.#json[this.#at] !== BRACKET_CLOSE) {
      this.#value(of)
      while (this.#json[this.#at] === COMMA) {
        this.#at++
        this.#value(of)
      }
    }
    this.#pass(BRACKET_CLOSE)
  }

  /** Checks a map. Its keys must be sorted in byte order. */
  #map(of: Schema): void {
    this.#pass(BRACE_OPEN)
    let before: Buffer | undefined
    if (this.#json[this.#at] !== BRACE_CLOSE) {
      for (;;) {
        const start = this.#at
        this.#plainText()
        const key = this.#json.subarray(start + 1, this.#at - 1)
        if (before !== undefined && Buffer.compare(before, key) >= 0) throw notPrinted
        before = key
        this.#pass(COLON)
        this.#value(of)
        if (this.#json[this.#at] !== COMMA) break
        this.#at++
      }
    }
    this.#pass(BRACE_CLOSE)
  }

  #text(): void {
    const start = this.#at
    if (!this.#passPlain()) this.#checkText(start)
  }

  #plainText(): void {
    if (!this.#passPlain()) throw notPrinted
  }

  /**
   * Skips a string that consists of bytes without escape sequences. Returns false for any other
   * string, which `#checkText` checks.
   */
  #passPlain(): boolean {
    const json = this.#json
    this.#pass(QUOTE)
    let at = this.#at
    while (isPlain[json[at] ?? 0] === 1) at++
    if (json[at] !== QUOTE) return false
    this.#at = at + 1
    return true
  }

  #checkText(start: number): void {
    const json = this.#json
    let at = start + 1
    for (let byte = json[at]; byte !== QUOTE; byte = json[++at]) {
      if (byte === undefined) throw notPrinted
      if (byte === BACKSLASH) at++
    }
    this.#at = at + 1
    const text = json.toString('utf8', start, this.#at)
    this.#must(
      isSameText(text) && Buffer.byteLength(text) === this.#at - start && !text.includes('\ufffd'),
    )
  }

  /** Returns the contents of a string that consists of plain bytes. */
  #asciiText(): string {
    const start = this.#at
    this.#plainText()
    return this.#json.toString('latin1', start + 1, this.#at - 1)
  }

  /** Whether the string that ends at the current position equals this text. */
  #isLast(text: string): boolean {
    return this.#json.toString('latin1', this.#at - 1 - text.length, this.#at - 1) === text
  }

  #boolean(): void {
    const word = this.#json[this.#at] === SMALL_T ? trueWord : falseWord
    for (const byte of word) this.#pass(byte)
  }

  #integer(digitsMax: number): void {
    const json = this.#json
    if (json[this.#at] === MINUS) this.#at++
    const start = this.#at
    let byte = json[start] ?? 0
    while (byte >= ZERO && byte <= NINE) byte = json[++this.#at] ?? 0
    const digits = this.#at - start
    const hasZeroFirst = json[start] === ZERO && (digits > 1 || json[start - 1] === MINUS)
    this.#must(digits > 0 && digits <= digitsMax && !hasZeroFirst)
  }

  /**
   * Checks a value that can be any JSON. Only nested objects are accepted, which is enough for
   * fieldsV1.
   */
  #raw(): void {
    if (++this.#depth > DEPTH_MAX) throw notPrinted
    this.#pass(BRACE_OPEN)
    if (this.#json[this.#at] !== BRACE_CLOSE) {
      for (;;) {
        this.#rawKey()
        this.#pass(COLON)
        this.#raw()
        if (this.#json[this.#at] !== COMMA) break
        this.#at++
      }
    }
    this.#pass(BRACE_CLOSE)
    this.#depth--
  }

  #rawKey(): void {
    const json = this.#json
    this.#pass(QUOTE)
    for (;;) {
      while (isPlain[json[this.#at] ?? 0] === 1) this.#at++
      const byte = json[this.#at++]
      if (byte === QUOTE) return
      const escaped = json[this.#at++]
      if (byte !== BACKSLASH || (escaped !== QUOTE && escaped !== BACKSLASH)) throw notPrinted
    }
  }
}

const nothing = Buffer.alloc(0)
const trueWord = Buffer.from('true')
const falseWord = Buffer.from('false')
const nullable = new Set<Schema['type']>(['list', 'map', 'time', 'microTime', 'raw'])

/** Whether a JSON string is printed in the same way as by `printString`. */
function isSameText(json: string): boolean {
  try {
    const text: unknown = JSON.parse(json)
    return typeof text === 'string' && printString(text) === json
  } catch {
    // The string is not valid JSON.
    return false
  }
}
