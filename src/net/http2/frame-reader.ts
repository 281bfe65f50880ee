/**
 * Splits the data of a socket into frames. Most frames are read without copying. A frame that
 * arrives in several chunks is assembled, except for DATA: its pieces are passed on as they arrive.
 * A DATA frame of 16 KB never fits into one TLS record, so assembling would copy every frame of a
 * long body.
 */
import { assert } from '../../lib/errors.ts'
import { byte, readUint32 } from '../../lib/bytes/big-endian.ts'
import {
  CODE,
  ConnectionError,
  FLAG,
  FRAME,
  FRAME_BYTES_MAX,
  FRAME_HEAD_BYTES,
  preface,
} from './protocol.ts'

/**
 * The current frame. The same object is reused for every frame, so callers must copy the payload if
 * they store it, or take a subarray of `bytes`.
 */
export type Frame = {
  type: number
  flags: number
  stream: number
  /** The payload is in `bytes` from `start` to `end`. */
  bytes: Buffer
  start: number
  end: number
  /**
   * Whether this is only a part of a DATA frame. Of these parts, only the last may have END_STREAM.
   */
  isPiece: boolean
}

/**
 * Minimum size of a piece of a DATA frame that is passed on. Shorter pieces are assembled with the
 * following bytes.
 */
const PIECE_BYTES_MIN = 512

const none = Buffer.alloc(0)

export class FrameReader {
  readonly #onFrame: (frame: Frame) => void
  readonly #frame: Frame = {
    type: 0,
    flags: 0,
    stream: 0,
    bytes: none,
    start: 0,
    end: 0,
    isPiece: false,
  }
  #prefaceBytes = 0
  #isEmitting = false
  /**
   * The bytes of an incomplete frame. If the length of the frame is already known, the buffer has
   * this length.
   */
  #begun: Buffer = none
  #begunBytes = 0
  /**
   * The DATA frame that is arriving in pieces: its flags, its stream, and the number of bytes that
   * have not arrived yet.
   */
  #data = { flags: 0, stream: 0, left: 0 }

  /** `hasPreface` means that the peer is a client, which sends the connection preface first. */
  constructor(hasPreface: boolean, onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame
    if (!hasPreface) this.#prefaceBytes = preface.length
  }

  /**
   * Reads a chunk. Throws a ConnectionError if a frame is invalid, and throws the errors of
   * `onFrame`. The reader itself does not keep the chunk, but `onFrame` may keep parts of it.
   */
  read(chunk: Buffer): void {
    let at = this.#prefaceBytes < preface.length ? this.#readPreface(chunk) : 0
    while (at < chunk.length) {
      if (this.#data.left > 0) at = this.#readPiece(chunk, at)
      else at = this.#begunBytes > 0 ? this.#continueFrame(chunk, at) : this.#readFrame(chunk, at)
    }
    // Release the chunk, so that an idle connection does not keep it in memory.
    this.#frame.bytes = none
  }

  #readPreface(chunk: Buffer): number {
    const seen = this.#prefaceBytes
    const bytes = Math.min(chunk.length, preface.length - seen)
    if (preface.compare(chunk, 0, bytes, seen, seen + bytes) !== 0) {
      throw new ConnectionError(CODE.PROTOCOL_ERROR, 'no connection preface')
    }
    this.#prefaceBytes += bytes
    return bytes
  }

  /** Reads a frame, and returns the position at which the next frame begins. */
  #readFrame(chunk: Buffer, at: number): number {
    const has = chunk.length - at
    const wanted =
      has < FRAME_HEAD_BYTES ? FRAME_HEAD_BYTES : FRAME_HEAD_BYTES + lengthOf(chunk, at)
    if (has >= wanted) {
      this.#emit(chunk, at, at + wanted)
      return at + wanted
    }
    if (has >= FRAME_HEAD_BYTES + PIECE_BYTES_MIN && isPlainData(chunk, at)) {
      const head = { flags: byte(chunk, at + 4), stream: readUint32(chunk, at + 5) & 0x7fffffff }
      this.#data = { ...head, left: wanted - FRAME_HEAD_BYTES }
      return this.#readPiece(chunk, at + FRAME_HEAD_BYTES)
    }
    this.#begun = memoryFor(wanted)
    this.#begunBytes = chunk.copy(this.#begun, 0, at)
    return chunk.length
  }

  /** Delivers the next bytes of a DATA frame, and returns the position after them. */
  #readPiece(chunk: Buffer, at: number): number {
    const { flags, stream, left } = this.#data
    const end = Math.min(chunk.length, at + left)
    this.#data.left -= end - at
    const shown = this.#data.left === 0 ? flags : flags & ~FLAG.END_STREAM
    this.#deliver({
      type: FRAME.DATA,
      flags: shown,
      stream,
      bytes: chunk,
      start: at,
      end,
      isPiece: true,
    })
    return end
  }

  #continueFrame(chunk: Buffer, at: number): number {
    const begun = this.#begun
    const next = at + chunk.copy(begun, this.#begunBytes, at)
    this.#begunBytes += next - at
    if (this.#begunBytes < begun.length) return next
    const wanted = FRAME_HEAD_BYTES + lengthOf(begun, 0)
    if (begun.length < wanted) {
      this.#begun = memoryFor(wanted)
      begun.copy(this.#begun)
      return next
    }
    this.#begun = none
    this.#begunBytes = 0
    this.#emit(begun, 0, wanted)
    return next
  }

  #emit(bytes: Buffer, at: number, end: number): void {
    const frame = this.#frame
    frame.type = byte(bytes, at + 3)
    frame.flags = byte(bytes, at + 4)
    frame.stream = readUint32(bytes, at + 5) & 0x7fffffff
    frame.bytes = bytes
    frame.start = at + FRAME_HEAD_BYTES
    frame.end = end
    this.#deliver(frame)
  }

  #deliver(frame: Frame): void {
    assert(!this.#isEmitting, 'a frame is read while the previous one is being handled')
    this.#isEmitting = true
    this.#onFrame(frame)
    this.#isEmitting = false
  }
}

/** Whether the frame is a DATA frame without padding. */
const isPlainData = (chunk: Buffer, at: number): boolean =>
  byte(chunk, at + 3) === FRAME.DATA && (byte(chunk, at + 4) & FLAG.PADDED) === 0

/**
 * Allocates memory outside of Node's buffer pool. The pool consists of slabs of 64 KB. Each
 * TLSSocket keeps a few bytes for ALPN in the pool, and with them a whole slab. If frames were also
 * in the pool, each connection would keep a slab of its own.
 */
const memoryFor = (bytes: number): Buffer => Buffer.allocUnsafeSlow(bytes)

function lengthOf(bytes: Buffer, at: number): number {
  const length = (byte(bytes, at) << 16) | (byte(bytes, at + 1) << 8) | byte(bytes, at + 2)
  if (length > FRAME_BYTES_MAX)
    throw new ConnectionError(
      CODE.FRAME_SIZE_ERROR,
      'a frame is longer than SETTINGS_MAX_FRAME_SIZE',
    )
  return length
}
