/**
 * Scans the JSON inside a continue token. The error messages are those of Go's encoding/json,
 * because clients see them. The scanner validates the whole text and returns the members of the
 * outermost object as text, without creating values.
 */

export type JsonType = 'string' | 'number' | 'bool' | 'null' | 'array' | 'object'

/** A member of the outermost object. `text` is the value as it was written. */
export type Member = { readonly name: string; readonly type: JsonType; readonly text: string }

export type ScanResult =
  | { readonly fault: string }
  | { readonly fault?: never; readonly type: JsonType; readonly members: readonly Member[] }

export function scanJson(bytes: Buffer): ScanResult {
  const scanner = new Scanner(bytes)
  try {
    return scanner.run()
  } catch (error) {
    if (error instanceof SyntaxFault) return { fault: error.message }
    throw error
  }
}

class SyntaxFault extends Error {}

type Next = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | 'more' | 'end'

const literals: ReadonlyMap<number, readonly [word: string, type: JsonType]> = new Map([
  [0x74, ['true', 'bool']],
  [0x66, ['false', 'bool']],
  [0x6e, ['null', 'null']],
])

/**
 * Scans JSON. Nested values are tracked on an explicit stack, because clients can send tokens that
 * are nested arbitrarily deep.
 */
class Scanner {
  readonly #bytes: Buffer
  readonly #open: ('{' | '[')[] = []
  readonly #members: Member[] = []
  #at = 0
  #next: Next = 'value'
  #type: JsonType = 'null'
  /** The member of the outermost object that is being read. */
  #name = ''
  #memberType: JsonType = 'null'
  #memberStart = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  run(): ScanResult {
    for (;;) {
      while (isSpace(this.#bytes[this.#at])) this.#at++
      if (this.#at === this.#bytes.length) break
      this.#step(this.#bytes[this.#at] ?? 0)
    }
    if (this.#next !== 'end') throw new SyntaxFault('unexpected end of JSON input')
    return { type: this.#type, members: this.#members }
  }

  #step(byte: number): void {
    const char = String.fromCharCode(byte)
    switch (this.#next) {
      case 'value or ]':
        if (char === ']') return this.#close()
        return this.#value(byte, char)
      case 'value':
        return this.#value(byte, char)
      case 'key or }':
        if (char === '}') return this.#close()
        return this.#key(char)
      case 'key':
        return this.#key(char)
      case ':':
        if (char !== ':') return this.#fail('after object key')
        this.#at++
        this.#next = 'value'
        return
      case 'more':
        return this.#more(char)
      case 'end':
        return this.#fail('after top-level value')
    }
  }

  #value(byte: number, char: string): void {
    const start = this.#at
    if (char === '{' || char === '[') {
      this.#began(char === '{' ? 'object' : 'array', start)
      this.#open.push(char)
      this.#at++
      this.#next = char === '{' ? 'key or }' : 'value or ]'
      return
    }
    const literal = literals.get(byte)
    if (char === '"') this.#began('string', start)
    else if (char === '-' || isDigit(byte)) this.#began('number', start)
    else if (literal !== undefined) this.#began(literal[1], start)
    else this.#fail('looking for beginning of value')
    if (char === '"') this.#string()
    else if (literal !== undefined) this.#literal(literal[0])
    else this.#number()
    this.#ended()
  }

  #key(char: string): void {
    if (char !== '"') this.#fail('looking for beginning of object key string')
    const start = this.#at
    this.#string()
    if (this.#open.length === 1) this.#name = unquote(this.#bytes.toString('utf8', start, this.#at))
    this.#next = ':'
  }

  #more(char: string): void {
    const inObject = this.#open.at(-1) === '{'
    if (char === ',') {
      this.#at++
      this.#next = inObject ? 'key' : 'value'
    } else if (char === (inObject ? '}' : ']')) {
      this.#close()
    } else {
      this.#fail(inObject ? 'after object key:value pair' : 'after array element')
    }
  }

  #close(): void {
    this.#at++
    this.#open.pop()
    this.#ended()
  }

  #began(type: JsonType, start: number): void {
    if (this.#open.length === 0) this.#type = type
    if (this.#open.length !== 1) return
    this.#memberType = type
    this.#memberStart = start
  }

  #ended(): void {
    this.#next = this.#open.length === 0 ? 'end' : 'more'
    if (this.#open.length !== 1 || this.#open[0] !== '{') return
    const text = this.#bytes.toString('utf8', this.#memberStart, this.#at)
    this.#members.push({ name: this.#name, type: this.#memberType, text })
  }

  #string(): void {
    for (this.#at++; ; this.#at++) {
      const byte = this.#byte()
      if (byte === 0x22) break
      if (byte < 0x20) this.#fail('in string literal')
      if (byte !== 0x5c) continue
      this.#at++
      const escaped = String.fromCharCode(this.#byte())
      if (!'"\\/bfnrtu'.includes(escaped)) this.#fail('in string escape code')
      if (escaped !== 'u') continue
      for (let digit = 0; digit < 4; digit++) {
        this.#at++
        if (!/[0-9a-fA-F]/.test(String.fromCharCode(this.#byte())))
          this.#fail('in \\u hexadecimal character escape')
      }
    }
    this.#at++
  }

  #number(): void {
    if (this.#byte() === 0x2d) this.#at++
    // After a leading zero, the number ends. Another digit is reported as an error of the
    // surrounding value.
    if (this.#byte() === 0x30) this.#at++
    else this.#digits('in numeric literal')
    if (this.#bytes[this.#at] === 0x2e) {
      this.#at++
      this.#digits('after decimal point in numeric literal')
    }
    if (this.#bytes[this.#at] === 0x65 || this.#bytes[this.#at] === 0x45) {
      this.#at++
      if (this.#byte() === 0x2b || this.#byte() === 0x2d) this.#at++
      this.#digits('in exponent of numeric literal')
    }
  }

  #digits(where: string): void {
    if (!isDigit(this.#byte())) this.#fail(where)
    while (isDigit(this.#bytes[this.#at])) this.#at++
  }

  #literal(word: string): void {
    for (let index = 1; index < word.length; index++) {
      this.#at++
      const expected = word[index] ?? ''
      if (this.#byte() !== expected.charCodeAt(0))
        this.#fail(`in literal ${word} (expecting '${expected}')`)
    }
    this.#at++
  }

  #byte(): number {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw new SyntaxFault('unexpected end of JSON input')
    return byte
  }

  #fail(where: string): never {
    throw new SyntaxFault(`invalid character ${quoteByte(this.#byte())} ${where}`)
  }
}

/**
 * Decodes a string literal that the scanner has accepted. As in Go, half of a surrogate pair
 * becomes U+FFFD.
 */
export function unquote(literal: string): string {
  const value: unknown = JSON.parse(literal)
  return typeof value === 'string' ? value.toWellFormed() : ''
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d

const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= 0x30 && byte <= 0x39

const namedBytes: ReadonlyMap<number, string> = new Map([
  [0x07, '\\a'],
  [0x08, '\\b'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0b, '\\v'],
  [0x0c, '\\f'],
  [0x0d, '\\r'],
  [0x27, "\\'"],
  [0x5c, '\\\\'],
])

/**
 * Quotes one byte as Go does, which treats it as the code point with the same number and escapes it
 * if it is not printable.
 */
function quoteByte(byte: number): string {
  const named = namedBytes.get(byte)
  if (named !== undefined) return `'${named}'`
  const hex = byte.toString(16).padStart(2, '0')
  if (byte < 0x20 || byte === 0x7f) return `'\\x${hex}'`
  if ((byte >= 0x80 && byte <= 0xa0) || byte === 0xad) return `'\\u00${hex}'`
  return `'${String.fromCharCode(byte)}'`
}
