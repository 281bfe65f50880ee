/**
 * Writes protobuf from back to front. The content of a message is written before its length, so the
 * length need not be computed in advance and no bytes have to be moved.
 */

/** Wire types of protobuf. */
export const VARINT = 0
export const FIXED64 = 1
export const BYTES = 2
export const FIXED32 = 5

/**
 * Initial size of the buffer. Most messages fit into it, and a buffer of this size comes from
 * Node's pool.
 */
const FIRST_BYTES = 2048
/**
 * Maximum length of strings that are encoded by a loop over their characters. For longer strings,
 * Node's built-in encoder is faster.
 */
const SHORT_CHARACTERS = 32
const SAFE_HIGH = 2 ** 32

export class ProtobufWriter {
  #buffer: Buffer
  /** The index at which the written bytes begin. */
  #at: number

  /** Creates a writer. `bytes` is the expected size, if known. */
  constructor(bytes: number = FIRST_BYTES) {
    this.#buffer = Buffer.allocUnsafe(bytes)
    this.#at = bytes
  }

  /**
   * Number of bytes written. The length of a message is the difference between this number before
   * and after writing it.
   */
  get length(): number {
    return this.#buffer.length - this.#at
  }

  /** Returns a copy of the written bytes and empties the writer. */
  take(): Buffer {
    const bytes = Buffer.from(this.#buffer.subarray(this.#at))
    this.#at = this.#buffer.length
    return bytes
  }

  /** Returns the written bytes without a copy. The writer must not be used afterwards. */
  finish(): Buffer {
    return this.#at === 0 ? this.#buffer : this.#buffer.subarray(this.#at)
  }

  /** Removes everything that was written since the writer had this length. */
  rewind(length: number): void {
    this.#at = this.#buffer.length - length
  }

  byte(value: number): void {
    this.#room(1)
    this.#buffer[--this.#at] = value
  }

  /** Writes bytes without a tag or a length. */
  raw(bytes: Uint8Array): void {
    this.#room(bytes.length)
    this.#at -= bytes.length
    this.#buffer.set(bytes, this.#at)
  }

  /** Writes a text as UTF-8. Returns the number of bytes written. */
  text(text: string): number {
    const { length } = text
    if (length <= SHORT_CHARACTERS && this.#short(text)) return length
    const bytes = Buffer.byteLength(text)
    this.#room(bytes)
    this.#at -= bytes
    this.#buffer.write(text, this.#at, 'utf8')
    return bytes
  }

  /** Writes the text if it is ASCII. Otherwise returns false and writes nothing. */
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

  /** Writes a non-negative integer below 2^53. */
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

  /** Writes any int64. A negative number takes ten bytes. */
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

  /** Writes an unsigned integer of 64 bits. */
  fixed64(value: bigint): void {
    this.#room(8)
    this.#at -= 8
    this.#buffer.writeBigUInt64LE(value, this.#at)
  }

  /** Writes an unsigned integer of 32 bits. */
  fixed32(value: number): void {
    this.#room(4)
    this.#at -= 4
    this.#buffer.writeUInt32LE(value, this.#at)
  }

  tag(field: number, wireType: number): void {
    this.varint(field * 8 + wireType)
  }

  /** Writes a field that is a message: its tag, its length, and the content that `write` writes. */
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
