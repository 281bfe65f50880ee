/**
 * Reads protobuf from a section of a buffer. Invalid bytes are rejected with the error messages of
 * Go's generated code.
 */
import type { Json } from '../../../api/object.ts'
import type { Schema } from '../../schema/schema.ts'
import { BYTES, FIXED32, FIXED64, VARINT } from '../../../lib/bytes/protobuf-writer.ts'

/** Reads a value after its tag. If the field occurred before, `existing` is its earlier value. */
export type Decode = (reader: ProtobufReader, existing: Json | undefined) => Json

/** Error for bytes that are not a valid message of the expected type. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError'
}

/** Error for a float that is NaN or infinite, with the message of Go's JSON encoder. */
export class NotFiniteError extends ProtobufError {
  constructor(value: number) {
    super(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`)
  }
}

/** Thrown if a message contains more map entries than a request may have. */
export class TooManyEntriesError extends Error {
  override readonly name = 'TooManyEntriesError'
}

/** Limits for messages that clients send. */
export type ReadLimits = {
  /** Maximum total number of entries of all maps. */
  readonly entriesMax: number
  /**
   * Called for each list item. Throws an error if the items read so far would be too large in the
   * database, even in their smallest form.
   */
  readonly takeItem: (item: Json, of: Schema) => void
  /**
   * Called when all fields were read for which memory is reserved. Reserves memory for more fields,
   * and returns their number. Throws an error if the memory budget is exhausted.
   */
  readonly holdFields: () => number
}

const truncated = (): ProtobufError => new ProtobufError('unexpected EOF')

/**
 * Maximum nesting depth of messages. It equals the limit for structs in JSON. Only the schemas in
 * CRDs are recursive.
 */
const DEPTH_MAX = 500
const INT64_MAX = 2 ** 63
const VARINT_BYTES_MAX = 10
/**
 * Shifts by fewer bits than this have a result of at most 32 bits, so that bitwise operators work.
 */
const SMALL_SHIFT = 28
const START_GROUP = 3
const END_GROUP = 4
/**
 * Maximum nesting depth of groups. Groups have been deprecated for a long time, and no known client
 * nests them.
 */
const GROUP_DEPTH_MAX = 100

export class ProtobufReader {
  readonly buffer: Buffer
  at: number
  end: number
  /** Number of messages that enclose the current message. */
  #depth = 0
  /** Number of map entries that can still be read. */
  #entriesLeft = Infinity
  #fieldsLeft = Infinity
  #limits: ReadLimits | undefined

  constructor(buffer: Buffer, at = 0, end = buffer.length) {
    this.buffer = buffer
    this.at = at
    this.end = end
  }

  /**
   * Returns to the beginning of the buffer. In work that is divided into parts, each part begins
   * with this.
   */
  rewind(): void {
    this.at = 0
    this.end = this.buffer.length
    this.#depth = 0
  }

  limit(limits: ReadLimits): this {
    this.#limits = limits
    this.#entriesLeft = limits.entriesMax
    this.#fieldsLeft = limits.holdFields()
    return this
  }

  /** Counts a field of a message. */
  takeField(): void {
    if (--this.#fieldsLeft < 0) this.#fieldsLeft = this.#limits?.holdFields() ?? Infinity
  }

  /** Counts an item of a list. */
  takeItem(item: Json, of: Schema): void {
    this.#limits?.takeItem(item, of)
  }

  /** Counts a map entry. */
  takeEntry(): void {
    if (this.#entriesLeft-- <= 0) throw new TooManyEntriesError()
  }

  /** Reads a tag. It is a single number that consists of the field number and the wire type. */
  tag(): number {
    const tag = this.varint()
    if (tag >>> 3 === 0 || tag > 0xffff_ffff) {
      throw new ProtobufError(
        `proto: illegal tag ${tag > 0xffff_ffff ? 0 : tag >>> 3} (wire type ${tag % 8})`,
      )
    }
    return tag
  }

  /** Reads a varint. The result is exact below 2^53, which is sufficient for tags and lengths. */
  varint(): number {
    const { buffer } = this
    let value = 0
    for (let shift = 0; shift < 7 * VARINT_BYTES_MAX; shift += 7) {
      if (this.at >= this.end) throw truncated()
      const byte = buffer[this.at++] ?? 0
      value =
        shift < SMALL_SHIFT ? value | ((byte & 0x7f) << shift) : value + (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new ProtobufError('proto: integer overflow')
  }

  int32(): number {
    return Number(BigInt.asIntN(32, BigInt(this.#small() ?? this.#long())))
  }

  /** Reads an int64. The result is a bigint only if a number cannot represent it exactly. */
  int64(): number | bigint {
    const small = this.#small()
    if (small !== undefined) return small
    const value = this.#long()
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }

  /** Reads a varint of at most four bytes. If it is longer, returns undefined and reads nothing. */
  #small(): number | undefined {
    const start = this.at
    let value = 0
    for (let shift = 0; shift < SMALL_SHIFT; shift += 7) {
      if (this.at >= this.end) throw truncated()
      const byte = this.buffer[this.at++] ?? 0
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    this.at = start
    return undefined
  }

  #long(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (this.at >= this.end) throw truncated()
      const byte = this.buffer[this.at++] ?? 0
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asIntN(64, value)
    }
    throw new ProtobufError('proto: integer overflow')
  }

  /** Reads a float. Rejects NaN and infinities, because JSON cannot represent them. */
  double(): number {
    if (this.end - this.at < 8) throw truncated()
    this.at += 8
    const value = this.buffer.readDoubleLE(this.at - 8)
    if (!Number.isFinite(value)) throw new NotFiniteError(value)
    return value
  }

  text(): string {
    const start = this.#length()
    return this.buffer.toString('utf8', start, this.at)
  }

  base64(): string {
    const start = this.#length()
    return this.buffer.toString('base64', start, this.at)
  }

  bytes(): Buffer {
    const start = this.#length()
    return this.buffer.subarray(start, this.at)
  }

  /** Reads a message: first its length, then its contents with `read`. */
  message<T>(read: (reader: ProtobufReader) => T): T {
    if (++this.#depth > DEPTH_MAX) throw new ProtobufError('proto: messages are nested too deeply')
    const outerEnd = this.end
    this.end = this.#messageEnd()
    const value = read(this)
    this.end = outerEnd
    this.#depth--
    return value
  }

  /**
   * Reads all fields of the current message. `read` reads a field if it knows the tag, and returns
   * whether it does. Unknown fields are skipped.
   */
  fields(read: (tag: number) => boolean): void {
    while (this.at < this.end) {
      const tag = this.tag()
      if (!read(tag)) this.skip(tag & 7)
    }
  }

  #messageEnd(): number {
    const length = this.varint()
    if (length > this.end - this.at) throw length > INT64_MAX ? negativeLength() : truncated()
    return this.at + length
  }

  /** Skips the value after a tag. */
  skip(wireType: number, depth = 0): void {
    switch (wireType) {
      case VARINT:
        this.varint()
        return
      case FIXED64:
        return this.#pass(8)
      case FIXED32:
        return this.#pass(4)
      case BYTES:
        this.#length()
        return
      case START_GROUP:
        return this.#skipGroup(depth + 1)
      case END_GROUP:
        throw new ProtobufError('proto: unexpected end of group')
      default:
        throw new ProtobufError(`proto: illegal wireType ${wireType}`)
    }
  }

  #skipGroup(depth: number): void {
    if (depth > GROUP_DEPTH_MAX) throw new ProtobufError('proto: groups are nested too deeply')
    for (;;) {
      const wireType = this.tag() % 8
      if (wireType === END_GROUP) return
      this.skip(wireType, depth)
    }
  }

  #pass(bytes: number): void {
    if (this.end - this.at < bytes) throw truncated()
    this.at += bytes
  }

  /** Reads a length and skips that many bytes. Returns the position at which the bytes begin. */
  #length(): number {
    const end = this.#messageEnd()
    const start = this.at
    this.at = end
    return start
  }
}

const negativeLength = (): ProtobufError =>
  new ProtobufError('proto: negative length found during unmarshaling')
