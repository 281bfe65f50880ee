/**
 * Reads protobuf from one received message. Byte fields are returned as views of that message, and
 * are not copied. Every step checks its bounds: malformed input throws MalformedMessage and never
 * causes a crash or a wrong view.
 */

/** Thrown for bytes that are not the expected protobuf. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage'
}

/** Thrown for a well-formed number that JavaScript cannot represent exactly. */
export class NumberTooLarge extends Error {
  override readonly name = 'NumberTooLarge'
}

const WIRE_VARINT = 0
const WIRE_64_BITS = 1
const WIRE_BYTES = 2
const WIRE_32_BITS = 5
const VARINT_BYTES_MAX = 10
const TWO_28 = 2 ** 28
const TWO_32 = 2 ** 32

/**
 * Returns the tag of a varint field with this number, so that decoders can compare it with a tag
 * that they have read.
 */
export const varintTag = (field: number): number => field * 8 + WIRE_VARINT
/** Returns the tag of a length-delimited field with this number. */
export const bytesTag = (field: number): number => field * 8 + WIRE_BYTES

export class WireReader {
  readonly #buffer: Buffer
  #at: number
  #end: number

  constructor(message: Buffer) {
    this.#buffer = message
    this.#at = 0
    this.#end = message.length
  }

  /** Whether the current message has more fields. */
  more(): boolean {
    return this.#at < this.#end
  }

  tag(): number {
    const tag = this.#small()
    if (tag < 8) throw new MalformedMessage('field number 0')
    return tag
  }

  /** Enters a nested message. The caller must pass the result to `leave`. */
  enter(): number {
    const length = this.#length()
    const outer = this.#end
    this.#end = this.#at + length
    return outer
  }

  leave(outer: number): void {
    if (this.#at !== this.#end)
      throw new MalformedMessage('a nested message was not read to its end')
    this.#end = outer
  }

  /** Returns a view of the received bytes, not a copy. */
  bytes(): Buffer {
    const length = this.#length()
    const from = this.#at
    this.#at = from + length
    return this.#buffer.subarray(from, this.#at)
  }

  string(): string {
    const length = this.#length()
    const from = this.#at
    this.#at = from + length
    return this.#buffer.toString('utf8', from, this.#at)
  }

  bool(): boolean {
    this.#varint()
    return this.#low !== 0 || this.#high !== 0
  }

  /** Reads an enumeration or another small number: the low 32 bits. */
  enumeration(): number {
    this.#varint()
    return this.#low | 0
  }

  /**
   * Reads a revision or a count. Throws if the number is 2^53 or more, because JavaScript would
   * round it, and a rounded revision is wrong.
   */
  number(): number {
    const byte = this.#buffer[this.#at]
    if (byte !== undefined && byte < 0x80 && this.#at < this.#end) {
      this.#at++
      return byte
    }
    this.#varint()
    const high = this.#high | 0
    const value = high * TWO_32 + this.#low
    if (!Number.isSafeInteger(value)) {
      throw new NumberTooLarge(
        `${this.#big()} is beyond 2^53, which this client cannot hold exactly`,
      )
    }
    return value
  }

  /** Reads a signed 64-bit ID. */
  id(): bigint {
    this.#varint()
    return this.#high === 0 ? BigInt(this.#low) : BigInt.asIntN(64, this.#big())
  }

  /** Reads an unsigned 64-bit ID. */
  unsignedId(): bigint {
    this.#varint()
    return this.#big()
  }

  /** Skips a field that this client does not know. */
  skip(tag: number): void {
    switch (tag & 7) {
      case WIRE_VARINT:
        return this.#varint()
      case WIRE_64_BITS:
        return this.#step(8)
      case WIRE_BYTES:
        return this.#step(this.#small())
      case WIRE_32_BITS:
        return this.#step(4)
      default:
        throw new MalformedMessage(`wire type ${tag & 7}`)
    }
  }

  // The last varint, as two unsigned 32-bit halves. They avoid allocations and BigInt.
  #low = 0
  #high = 0

  #big(): bigint {
    return (BigInt(this.#high) << 32n) | BigInt(this.#low)
  }

  #length(): number {
    const length = this.#small()
    if (length > this.#end - this.#at)
      throw new MalformedMessage('a field is longer than its message')
    return length
  }

  #step(bytes: number): void {
    if (bytes > this.#end - this.#at)
      throw new MalformedMessage('a field is longer than its message')
    this.#at += bytes
  }

  /** Reads a tag or a length, which fits in 32 bits. */
  #small(): number {
    const byte = this.#buffer[this.#at]
    if (byte !== undefined && byte < 0x80 && this.#at < this.#end) {
      this.#at++
      return byte
    }
    this.#varint()
    if (this.#high !== 0) throw new MalformedMessage('a tag or length has more than 32 bits')
    return this.#low
  }

  #varint(): void {
    const buffer = this.#buffer
    const limit = Math.min(this.#end, this.#at + VARINT_BYTES_MAX)
    // The varint is split into parts of 28, 28 and 8 bits, each of which V8 stores as a small
    // integer.
    let first = 0
    let second = 0
    let third = 0
    for (let at = this.#at, index = 0; at < limit; at++, index++) {
      const byte = buffer[at] ?? 0
      if (index < 4) first |= (byte & 0x7f) << (7 * index)
      else if (index < 8) second |= (byte & 0x7f) << (7 * (index - 4))
      else third |= (byte & 0x7f) << (7 * (index - 8))
      if (byte < 0x80) {
        this.#at = at + 1
        this.#low = ((second & 0xf) * TWO_28 + first) >>> 0
        this.#high = ((second >>> 4) | ((third & 0xff) << 24)) >>> 0
        return
      }
    }
    throw new MalformedMessage('a number does not end')
  }
}
