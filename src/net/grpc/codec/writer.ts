/**
 * Writes the fields of a gRPC request, and the five bytes of its frame before them, so that a
 * request is one Buffer. As the message is written from its end to its start, callers write fields
 * in descending order of their numbers. Fields with their default values are left out.
 */
import { BYTES, ProtobufWriter, VARINT } from '../../../lib/bytes/protobuf-writer.ts'
import { GrpcError } from '../errors.ts'

/**
 * Room for the tags, lengths and numbers of a request besides its keys and values; the buffer grows
 * if it needs more.
 */
const SPARE_BYTES = 128

export class WireWriter extends ProtobufWriter {
  /**
   * `contentBytes`: the bytes of the keys and values to come, so that the buffer rarely has to
   * grow.
   */
  constructor(contentBytes: number) {
    super(contentBytes + SPARE_BYTES)
  }

  /** A mark for `nested`: take it before the fields of a nested message are written. */
  mark(): number {
    return this.length
  }

  /**
   * Closes the nested message whose fields were written since `mark`. It is written even if empty:
   * its presence has a meaning.
   */
  nested(field: number, mark: number): void {
    this.varint(this.length - mark)
    this.tag(field, BYTES)
  }

  /** Absent and empty are the same for a bytes field. */
  bytes(field: number, value: Uint8Array | undefined): void {
    if (value === undefined || value.length === 0) return
    this.raw(value)
    this.varint(value.length)
    this.tag(field, BYTES)
  }

  string(field: number, value: string): void {
    if (value === '') return
    this.varint(this.text(value))
    this.tag(field, BYTES)
  }

  /**
   * A count, a revision or an enumeration: an int64 that JavaScript holds exactly and that is not
   * negative.
   */
  number(field: number, value: number | undefined): void {
    if (value === undefined || value === 0) return
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new GrpcError('InvalidArgument', `${value} is not a whole number from 0 to 2^53 - 1`)
    }
    this.varint(value)
    this.tag(field, VARINT)
  }

  bool(field: number, value: boolean | undefined): void {
    if (value !== true) return
    this.byte(1)
    this.tag(field, VARINT)
  }

  /** An id: all 64 bits count. */
  id(field: number, value: bigint | undefined): void {
    if (value === undefined || value === 0n) return
    this.integer(value)
    this.tag(field, VARINT)
  }

  /** The message in its gRPC frame: not compressed, four bytes of length. */
  frame(): Buffer {
    const { length } = this
    for (let rest = length, bytes = 0; bytes < 4; bytes++, rest >>>= 8) this.byte(rest & 0xff)
    this.byte(0)
    return this.finish()
  }
}
