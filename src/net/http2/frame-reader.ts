/**
 * Splits what comes from a socket into frames. A frame that comes in pieces is assembled; others
 * are read in place. DATA is not assembled: a frame of 16 KB never fits into a TLS record of that
 * size, so that all frames of a long body would be copied to new memory.
 */
import { assert } from '../../lib/errors.ts'
import {
  byte,
  CODE,
  ConnectionError,
  FLAG,
  FRAME,
  FRAME_BYTES_MAX,
  FRAME_HEAD_BYTES,
  preface,
  readUint32,
} from './protocol.ts'

/**
 * The same object for every frame, valid until the next one. To keep its payload, copy it or take a
 * subarray of `bytes`.
 */
export type Frame = {
  type: number
  flags: number
  stream: number
  /** The payload is in `bytes` from `start` to `end`. */
  bytes: Buffer
  start: number
  end: number
  /** A part of DATA that came in pieces; all but the last are without END_STREAM. */
  isPiece: boolean
}

/** Less of a DATA frame is assembled with its rest. */
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
   * The beginning of a frame whose rest has not come yet, in a buffer of the length known so far.
   */
  #begun: Buffer = none
  #begunBytes = 0
  /**
   * The flags and the stream of a DATA frame that comes in pieces, and how many of its bytes are
   * still to come.
   */
  #data = { flags: 0, stream: 0, left: 0 }

  /** `hasPreface`: the peer is a client, which starts with the connection preface. */
  constructor(hasPreface: boolean, onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame
    if (!hasPreface) this.#prefaceBytes = preface.length
  }

  /**
   * Fails with a ConnectionError, its own or that of `onFrame`. The chunk is kept for as long as
   * `onFrame` keeps it.
   */
  read(chunk: Buffer): void {
    let at = this.#prefaceBytes < preface.length ? this.#readPreface(chunk) : 0
    while (at < chunk.length) {
      if (this.#data.left > 0) at = this.#readPiece(chunk, at)
      else at = this.#begunBytes > 0 ? this.#continueFrame(chunk, at) : this.#readFrame(chunk, at)
    }
    // An idle connection keeps no chunk in memory.
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

  /** Returns where the next frame begins. */
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

  /** The next bytes of a DATA frame. */
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
    assert(!this.#isEmitting, 'a frame is read while the one before is being handled')
    this.#isEmitting = true
    this.#onFrame(frame)
    this.#isEmitting = false
  }
}

/** DATA without padding. */
const isPlainData = (chunk: Buffer, at: number): boolean =>
  byte(chunk, at + 3) === FRAME.DATA && (byte(chunk, at + 4) & FLAG.PADDED) === 0

/**
 * Not from Node's buffer pool: each TLSSocket keeps a few bytes of that, for ALPN, and with them
 * the whole 64 KB slab. Frames would use up slabs so fast that each connection would keep one of
 * its own.
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
