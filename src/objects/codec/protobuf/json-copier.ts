/**
 * Reads JSON without whitespace, and writes the same value as protobuf, from front to back. The
 * methods are called by transcode.ts, which determines the type of each value.
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
  QUOTE,
  SMALL_F,
  SMALL_N,
  SMALL_T,
  ZERO,
} from '../../../lib/bytes/ascii.ts'
import { endOfString, endOfValue } from '../json-bytes.ts'
import { BYTES, VARINT, varintBytes, ProtobufWriter } from '../../../lib/bytes/protobuf-writer.ts'

const DOT = 0x2e
const LETTER_T = 0x54
const LETTER_Z = 0x5a

/**
 * This number of bytes is added when the size of the output buffer is chosen. A message can be
 * longer than the JSON, because it contains zero values that the JSON omits.
 */
const SPARE_BYTES = 4 << 10
/** Maximum size of a buffer that is reused for the next message. */
const KEPT_BYTES_MAX = 1 << 20
/** Maximum number of bytes for which a loop is faster than a call of a Buffer function. */
const SHORT_BYTES = 48
/** Maximum number of digits with which a JavaScript number is exact. */
const DIGITS_MAX = 15
const NANO_DIGITS = 9
const DAY_SECONDS = 86_400
const EPOCH_YEAR = 1970

/**
 * Thrown if the JSON has an unexpected form. The caller must then decode the object and encode it
 * again.
 */
export class UnexpectedJson extends Error {
  override readonly name = 'UnexpectedJson'
}

export class JsonCopier {
  #json: Buffer = Buffer.alloc(0)
  #at = 0
  #out = Buffer.alloc(0)
  /**
   * Number of bytes written. If it exceeds the size of the buffer, the bytes beyond its end are
   * lost. `run` then starts again with a larger buffer.
   */
  #used = 0

  /**
   * Calls `copy` to convert the JSON that begins at `start`, and returns the protobuf. Throws an
   * `UnexpectedJson` if the JSON has a form that `copy` does not expect.
   */
  run(json: Buffer, start: number, copy: () => void): Buffer {
    this.#json = json
    this.#room(2 * json.length + SPARE_BYTES)
    try {
      for (;;) {
        this.#at = start
        this.#used = 0
        copy()
        if (this.#used <= this.#out.length) return Buffer.from(this.#out.subarray(0, this.#used))
        this.#room(2 * this.#used)
      }
    } finally {
      this.#json = nothing
      if (this.#out.length > KEPT_BYTES_MAX) this.#out = nothing
    }
  }

  #room(bytes: number): void {
    if (this.#out.length < bytes) this.#out = Buffer.allocUnsafeSlow(bytes)
  }

  /** Skips the key (`"name":`) if it comes next. Returns whether it was skipped. */
  passKey(key: Buffer): boolean {
    const json = this.#json
    const at = this.#at
    const { length } = key
    // Most keys already differ in their first letter.
    if (json[at + 1] !== key[1]) return false
    for (let i = 0; i < length; i++) if (json[at + i] !== key[i]) return false
    this.#at += length
    return true
  }

  passNull(): boolean {
    if (this.#json[this.#at] !== SMALL_N) return false
    this.#at += 'null'.length
    return true
  }

  passEmptyText(): boolean {
    if (this.#json[this.#at] !== QUOTE || this.#json[this.#at + 1] !== QUOTE) return false
    this.#at += '""'.length
    return true
  }

  /** Skips the comma after a field if another field follows. */
  passField(): void {
    const byte = this.#json[this.#at]
    if (byte === COMMA) this.#at++
    else if (byte !== BRACE_CLOSE) throw new UnexpectedJson()
  }

  beginObject(): void {
    this.#pass(BRACE_OPEN)
  }

  endObject(): void {
    this.#pass(BRACE_CLOSE)
  }

  /** Begins a list. Returns false if it is empty. */
  beginList(): boolean {
    this.#pass(BRACKET_OPEN)
    return this.#json[this.#at] === BRACKET_CLOSE ? this.nextInList() : this.#isValue()
  }

  nextInList(): boolean {
    if (this.#passComma()) return this.#isValue()
    this.#pass(BRACKET_CLOSE)
    return false
  }

  /** Begins a map. Returns false if it is empty. */
  beginMap(): boolean {
    this.#pass(BRACE_OPEN)
    return this.#json[this.#at] === BRACE_CLOSE ? this.nextInMap() : true
  }

  nextInMap(): boolean {
    if (this.#passComma()) return true
    this.#pass(BRACE_CLOSE)
    return false
  }

  /** Copies the key of a map entry, including its tag. */
  mapKey(): void {
    this.#out[this.#used++] = 8 + BYTES
    this.text()
    this.#pass(COLON)
    this.#isValue()
  }

  #passComma(): boolean {
    if (this.#json[this.#at] !== COMMA) return false
    this.#at++
    return true
  }

  /**
   * Throws an error if the next value is null. Only the decoder knows what null means in a list or
   * map.
   */
  #isValue(): true {
    if (this.#json[this.#at] === SMALL_N) throw new UnexpectedJson()
    return true
  }

  #pass(byte: number): void {
    if (this.#json[this.#at++] !== byte) throw new UnexpectedJson()
  }

  bytes(bytes: Buffer): void {
    const { length } = bytes
    const out = this.#out
    let used = this.#used
    for (let i = 0; i < length; i++) out[used++] = bytes[i] ?? 0
    this.#used = used
  }

  /**
   * Begins a message. Reserves one byte for its length, which is enough for most messages. Returns
   * the position at which the contents of the message begin.
   */
  openMessage(tag: Buffer): number {
    this.bytes(tag)
    return ++this.#used
  }

  closeMessage(start: number): void {
    const length = this.#used - start
    if (length < 0x80) {
      this.#out[start - 1] = length
      return
    }
    const more = varintBytes(length) - 1
    this.#out.copyWithin(start + more, start, this.#used)
    this.#used = start - 1
    this.#varint(length)
    this.#used += length
  }

  /** Number of bytes written so far. */
  get used(): number {
    return this.#used
  }

  /**
   * Changes the order of the parts that were written last, from that of JSON to that of protobuf.
   * `places` contains the start of each part.
   */
  reorder(places: readonly number[], order: readonly number[]): void {
    const [begin = 0] = places
    // Do nothing if the buffer was too small, because `run` starts again.
    if (this.#used > this.#out.length) return
    const written = Buffer.from(this.#out.subarray(begin, this.#used))
    let at = begin
    for (const place of order) {
      const start = places[place] ?? begin
      const end = places[place + 1] ?? start
      if (end > start) at += written.copy(this.#out, at, start - begin, end - begin)
    }
  }

  #varint(value: number): void {
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80))
      this.#out[this.#used++] = (rest % 0x80) | 0x80
    this.#out[this.#used++] = rest
  }

  /** Copies a string: its length, followed by its bytes. */
  text(): void {
    const json = this.#json
    this.#pass(QUOTE)
    const start = this.#at
    let at = start
    for (let byte = json[at]; byte !== QUOTE; byte = json[++at]) {
      if (byte === BACKSLASH) return this.#escapedText(start)
      if (byte === undefined) throw new UnexpectedJson()
    }
    this.#at = at + 1
    this.#varint(at - start)
    this.#copy(start, at)
  }

  #copy(start: number, end: number): void {
    const json = this.#json
    const out = this.#out
    let used = this.#used
    this.#used += end - start
    if (end - start > SHORT_BYTES) json.copy(out, used, start, end)
    else for (let at = start; at < end; at++) out[used++] = json[at] ?? 0
  }

  #escapedText(start: number): void {
    this.#at = start
    this.#passString()
    const parsed: unknown = JSON.parse(this.#json.toString('utf8', start - 1, this.#at))
    this.#lengthened(Buffer.from(String(parsed)))
  }

  #lengthened(bytes: Buffer): void {
    this.#varint(bytes.length)
    bytes.copy(this.#out, this.#used)
    this.#used += bytes.length
  }

  base64(): void {
    this.#pass(QUOTE)
    const start = this.#at
    this.#passString()
    this.#lengthened(Buffer.from(this.#json.toString('latin1', start, this.#at - 1), 'base64'))
  }

  boolean(): void {
    const byte = this.#json[this.#at]
    if (byte !== SMALL_T && byte !== SMALL_F) throw new UnexpectedJson()
    this.#at += byte === SMALL_T ? 'true'.length : 'false'.length
    this.#out[this.#used++] = byte === SMALL_T ? 1 : 0
  }

  integer(): void {
    const start = this.#at
    let value = 0
    let digit = this.#digit()
    for (; digit !== -1; digit = this.#digit()) value = value * 10 + digit
    if (this.#at > start && this.#at - start <= DIGITS_MAX) return this.#varint(value)
    this.#at = start
    const writer = new ProtobufWriter()
    const text = this.#numberText()
    if (!/^-?\d+$/.test(text)) throw new UnexpectedJson()
    writer.integer(BigInt(text))
    this.bytes(writer.take())
  }

  /** Reads the next digit. Returns -1 if no digit follows. */
  #digit(): number {
    const digit = (this.#json[this.#at] ?? 0) - ZERO
    if (digit < 0 || digit > 9) return -1
    this.#at++
    return digit
  }

  double(): void {
    const writer = new ProtobufWriter()
    writer.double(Number(this.#numberText()))
    this.bytes(writer.take())
  }

  #numberText(): string {
    const start = this.#at
    for (
      let byte = this.#json[start];
      byte !== COMMA && byte !== BRACE_CLOSE && byte !== BRACKET_CLOSE;
    ) {
      if (byte === undefined || byte > LETTER_Z + 0x20) throw new UnexpectedJson()
      byte = this.#json[++this.#at]
    }
    const text = this.#json.toString('latin1', start, this.#at)
    if (!/^-?\d+(?:\.\d+)?(?:e[+-]\d+)?$/.test(text)) throw new UnexpectedJson()
    return text
  }

  quantity(): void {
    this.#out[this.#used++] = 8 + BYTES
    this.text()
  }

  /**
   * Copies an integer or a string. In protobuf, this is a message with one field for integers and
   * another one for strings.
   */
  intOrString(): void {
    const isText = this.#json[this.#at] === QUOTE
    this.#out[this.#used++] = 8 + VARINT
    this.#out[this.#used++] = isText ? 1 : 0
    this.#out[this.#used++] = 16 + VARINT
    if (isText) this.#out[this.#used++] = 0
    else this.integer()
    this.#out[this.#used++] = 24 + BYTES
    if (isText) this.text()
    else this.#out[this.#used++] = 0
  }

  /**
   * Copies a time such as `"2026-03-01T10:00:00Z"` as seconds and nanoseconds. The time can have a
   * fraction.
   */
  time(): void {
    this.#pass(QUOTE)
    const days = daysBefore(this.#number(4), this.#behind(MINUS), this.#behind(MINUS))
    const hours = this.#behind(LETTER_T)
    const seconds =
      days * DAY_SECONDS + hours * 3600 + this.#behind(COLON) * 60 + this.#behind(COLON)
    const nanos = this.#fraction()
    this.#pass(LETTER_Z)
    this.#pass(QUOTE)
    if (seconds < 0) throw new UnexpectedJson()
    this.#out[this.#used++] = 8 + VARINT
    this.#varint(seconds)
    this.#out[this.#used++] = 16 + VARINT
    this.#varint(nanos)
  }

  #fraction(): number {
    if (this.#json[this.#at] !== DOT) return 0
    this.#at++
    let nanos = 0
    let digits = 0
    for (let digit = this.#digit(); digit !== -1; digit = this.#digit(), digits++)
      nanos = nanos * 10 + digit
    return nanos * 10 ** (NANO_DIGITS - digits)
  }

  #behind(byte: number): number {
    this.#pass(byte)
    return this.#number(2)
  }

  #number(digits: number): number {
    let value = 0
    for (let left = digits; left > 0; left--) {
      const digit = this.#digit()
      if (digit === -1) throw new UnexpectedJson()
      value = value * 10 + digit
    }
    return value
  }

  /** Copies JSON of any type as text. */
  raw(): void {
    const start = this.#at
    this.skip()
    this.#out[this.#used++] = 8 + BYTES
    this.#varint(this.#at - start)
    this.#copy(start, this.#at)
  }

  /** Skips a value of any type. */
  skip(): void {
    this.#passTo(endOfValue(this.#json, this.#at))
  }

  /** Skips the rest of a string, from after the opening quote to after the closing quote. */
  #passString(): void {
    this.#passTo(endOfString(this.#json, this.#at))
  }

  #passTo(at: number): void {
    if (at > this.#json.length) throw new UnexpectedJson()
    this.#at = at
  }
}

const nothing = Buffer.alloc(0)

/** Returns the number of days from 1970-01-01 to a date. */
function daysBefore(year: number, month: number, day: number): number {
  if (year < EPOCH_YEAR) throw new UnexpectedJson()
  // The year begins in March here, so that the leap day is its last day.
  const from = month > 2 ? year : year - 1
  const monthsFromMarch = (month + 9) % 12
  const leapDays = Math.floor(from / 4) - Math.floor(from / 100) + Math.floor(from / 400)
  return (
    from * 365 + leapDays + Math.floor((153 * monthsFromMarch + 2) / 5) + day - 1 - DAYS_TO_EPOCH
  )
}

/** Number of days from 0000-03-01 to 1970-01-01. */
const DAYS_TO_EPOCH = 719_468
