/**
 * Writes protobuf from the end to the front: when the length of a message is written, its content
 * is there already, so nothing is measured beforehand and nothing is moved.
 */

/** Wire types. */
export const VARINT = 0
export const FIXED64 = 1
export const BYTES = 2
export const FIXED32 = 5

/** Most messages fit, and such a small buffer comes from Node's pool. */
const FIRST_BYTES = 2048
/** Up to here a loop over the characters is faster than a call into the runtime. */
const SHORT_CHARACTERS = 32
const SAFE_HIGH = 2 ** 32

export class ProtobufWriter {
  #buffer: Buffer
  /** Where the written part begins. */
  #at: number

  /** `bytes`: the expected size, if it is known. */
  constructor(bytes: number = FIRST_BYTES) {
    this.#buffer = Buffer.allocUnsafe(bytes)
    this.#at = bytes
  }

  /**
   * How much has been written. The length of a message is the difference between before and after
   * it.
   */
  get length(): number {
    return this.#buffer.length - this.#at
  }

  /** Returns a copy of what was written; the writer begins anew. */
  take(): Buffer {
    const bytes = Buffer.from(this.#buffer.subarray(this.#at))
    this.#at = this.#buffer.length
    return bytes
  }

  /** Returns what was written, not a copy: the writer is not to be used any more. */
  finish(): Buffer {
    return this.#at === 0 ? this.#buffer : this.#buffer.subarray(this.#at)
  }

  /** Removes what was written after the writer had this length. */
  rewind(length: number): void {
    this.#at = this.#buffer.length - length
  }

  byte(value: number): void {
    this.#room(1)
    this.#buffer[--this.#at] = value
  }

  /** Bytes without tag or length. */
  raw(bytes: Uint8Array): void {
    this.#room(bytes.length)
    this.#at -= bytes.length
    this.#buffer.set(bytes, this.#at)
  }

  /** Returns how many bytes it took. */
  text(text: string): number {
    const { length } = text
    if (length <= SHORT_CHARACTERS && this.#short(text)) return length
    const bytes = Buffer.byteLength(text)
    this.#room(bytes)
    this.#at -= bytes
    this.#buffer.write(text, this.#at, 'utf8')
    return bytes
  }

  /** Whether the text is ASCII; if not, nothing was written. */
  #short(text: string): boolean {
    const { length } = text
    this.#room(length)
    const start = this.#at - length
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at)
      if (code > 0x7f) return false
      this.#buffer[start + at] = code
    }
    this.#at = start
    return true
  }

  /** A non-negative integer below 2^53. */
  varint(value: number): void {
    if (value < 0x80) return this.byte(value)
    const size = varintBytes(value)
    this.#room(size)
    this.#at -= size
    const buffer = this.#buffer
    let at = this.#at
    let rest = value
    while (rest >= SAFE_HIGH) {
      buffer[at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    while (rest >= 0x80) {
      buffer[at++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    buffer[at] = rest
  }

  /** Any int64: negative ones take ten bytes. */
  integer(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0 && Number.isSafeInteger(value))
      return this.varint(value)
    let rest = BigInt.asUintN(64, BigInt(value))
    const bytes: number[] = []
    while (rest >= 0x80n) {
      bytes.push(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    bytes.push(Number(rest))
    this.raw(Uint8Array.from(bytes))
  }

  double(value: number): void {
    this.#room(8)
    this.#at -= 8
    this.#buffer.writeDoubleLE(value, this.#at)
  }

  /** Unsigned. */
  fixed64(value: bigint): void {
    this.#room(8)
    this.#at -= 8
    this.#buffer.writeBigUInt64LE(value, this.#at)
  }

  /** Unsigned. */
  fixed32(value: number): void {
    this.#room(4)
    this.#at -= 4
    this.#buffer.writeUInt32LE(value, this.#at)
  }

  tag(field: number, wireType: number): void {
    this.varint(field * 8 + wireType)
  }

  /** A field that is a message: tag, length, and what `write` writes. */
  message(field: number, write: () => void): void {
    const before = this.length
    write()
    this.varint(this.length - before)
    this.tag(field, BYTES)
  }

  #room(bytes: number): void {
    if (bytes <= this.#at) return
    const written = this.length
    const larger = Buffer.allocUnsafe(2 * (this.#buffer.length + bytes))
    const at = larger.length - written
    this.#buffer.copy(larger, at, this.#at)
    this.#buffer = larger
    this.#at = at
  }
}

export function varintBytes(value: number): number {
  let size = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++
  return size
}
