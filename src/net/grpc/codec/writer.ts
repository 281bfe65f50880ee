/**
 * Writes a protobuf message from its end to its start. A nested message is then complete before its length is written, so one pass
 * is enough: no sizes are computed first and no part is copied. Callers write fields in descending order of their numbers. The five
 * bytes of the gRPC frame come first, so that a request is one Buffer.
 */
import { GrpcError } from '../errors.ts'

const FRAME_HEAD_BYTES = 5
/** Room for the tags, lengths and numbers of a request besides its keys and values; the buffer grows if it needs more. */
const SPARE_BYTES = 128

export class WireWriter {
  #buffer: Buffer
  #start: number

  /** `contentBytes`: the bytes of the keys and values to come, so that the buffer rarely has to grow. */
  constructor(contentBytes: number) {
    this.#buffer = Buffer.allocUnsafe(contentBytes + SPARE_BYTES)
    this.#start = this.#buffer.length
  }

  /** A mark for `nested`: take it before the fields of a nested message are written. */
  mark(): number {
    return this.#buffer.length - this.#start
  }

  /** Closes the nested message whose fields were written since `mark`. It is written even if empty: its presence has a meaning. */
  nested(field: number, mark: number): void {
    this.#varint(this.#buffer.length - this.#start - mark)
    this.#varint(field * 8 + 2)
  }

  /** Absent and empty are the same for a bytes field. */
  bytes(field: number, value: Uint8Array | undefined): void {
    if (value === undefined || value.length === 0) return
    this.#room(value.length)
    this.#start -= value.length
    this.#buffer.set(value, this.#start)
    this.#varint(value.length)
    this.#varint(field * 8 + 2)
  }

  string(field: number, value: string): void {
    if (value !== '') this.bytes(field, Buffer.from(value))
  }

  /** A count, a revision or an enumeration: an int64 that JavaScript holds exactly and that is not negative. */
  number(field: number, value: number | undefined): void {
    if (value === undefined || value === 0) return
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new GrpcError('InvalidArgument', `${value} is not a whole number from 0 to 2^53 - 1`)
    }
    this.#varint(value)
    this.#varint(field * 8)
  }

  bool(field: number, value: boolean | undefined): void {
    if (value !== true) return
    this.#varint(1)
    this.#varint(field * 8)
  }

  /** An id: all 64 bits count. */
  id(field: number, value: bigint | undefined): void {
    if (value === undefined || value === 0n) return
    this.#varintBig(value)
    this.#varint(field * 8)
  }

  /** The message in its gRPC frame: not compressed, four bytes of length. */
  frame(): Buffer {
    const length = this.#buffer.length - this.#start
    this.#room(FRAME_HEAD_BYTES)
    this.#start -= FRAME_HEAD_BYTES
    this.#buffer[this.#start] = 0
    this.#buffer.writeUInt32BE(length, this.#start + 1)
    return this.#start === 0 ? this.#buffer : this.#buffer.subarray(this.#start)
  }

  #varint(value: number): void {
    if (value < 0x80) {
      if (this.#start === 0) this.#room(1)
      this.#buffer[--this.#start] = value
      return
    }
    this.#room(10)
    let length = 1
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++
    this.#start -= length
    let at = this.#start
    let rest = value
    for (; rest > 0x7fffffff; rest = Math.floor(rest / 0x80))
      this.#buffer[at++] = (rest % 0x80) | 0x80
    for (; rest >= 0x80; rest >>>= 7) this.#buffer[at++] = (rest & 0x7f) | 0x80
    this.#buffer[at] = rest
  }

  #varintBig(value: bigint): void {
    const digits: number[] = []
    let rest = BigInt.asUintN(64, value)
    for (; rest >= 0x80n; rest >>= 7n) digits.push(Number(rest & 0x7fn) | 0x80)
    digits.push(Number(rest))
    this.#room(digits.length)
    this.#start -= digits.length
    this.#buffer.set(digits, this.#start)
  }

  #room(bytes: number): void {
    if (this.#start >= bytes) return
    const used = this.#buffer.length - this.#start
    const grown = Buffer.allocUnsafe(this.#buffer.length * 2 + bytes)
    this.#buffer.copy(grown, grown.length - used, this.#start)
    this.#buffer = grown
    this.#start = grown.length - used
  }
}
