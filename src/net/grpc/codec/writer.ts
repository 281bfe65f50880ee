/**
 * Writes the fields of a gRPC request, preceded by the five bytes of its frame, so that a request
 * is one Buffer. The message is written from its end to its start, so callers write the fields in
 * descending order of the field numbers. Fields with default values are omitted.
 */
import { BYTES, ProtobufWriter, VARINT } from '../../../lib/bytes/protobuf-writer.ts'
import { GrpcError } from '../errors.ts'

/**
 * Bytes reserved for the tags, lengths and numbers of a request, in addition to its keys and
 * values. The buffer grows if a request needs more.
 */
const SPARE_BYTES = 128

export class WireWriter extends ProtobufWriter {
  /**
   * `contentBytes` is the total size of the keys and values that will be written, so that the
   * buffer rarely has to grow.
   */
  constructor(contentBytes: number) {
    super(contentBytes + SPARE_BYTES)
  }

  /**
   * Ends the nested message whose fields were written since the writer had the length `mark`. An
   * empty message is also written, because an empty message differs from an absent one.
   */
  nested(field: number, mark: number): void {
    this.varint(this.length - mark)
    this.tag(field, BYTES)
  }

  /**
   * Writes a bytes field. Empty values are omitted, because protobuf does not distinguish them from
   * absent ones.
   */
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
   * Writes a count, a revision or an enumeration: a non-negative int64 that JavaScript represents
   * exactly.
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

  /** Writes an ID, which uses all 64 bits. */
  id(field: number, value: bigint | undefined): void {
    if (value === undefined || value === 0n) return
    this.integer(value)
    this.tag(field, VARINT)
  }

  /**
   * Returns the message in a gRPC frame: a zero byte (not compressed) and a length of four bytes.
   */
  frame(): Buffer {
    const { length } = this
    for (let rest = length, bytes = 0; bytes < 4; bytes++, rest >>>= 8) this.byte(rest & 0xff)
    this.byte(0)
    return this.finish()
  }
}
