/**
 * Sends the frames of a connection: headers, bodies and control frames. Bodies are sent only as
 * fast as the peer's flow control windows and the socket allow. If several streams have data, they
 * take turns.
 */
import type { Duplex } from 'node:stream'
import type { Blocks } from '../../lib/bytes/blocks.ts'
import { assert } from '../../lib/errors.ts'
import { FieldTable, TABLE_BYTES } from './hpack-encoder.ts'
import type { HpackEncoder } from './hpack-encoder.ts'
import { Output } from './output.ts'
import { writeUint32 } from '../../lib/bytes/big-endian.ts'
import {
  CODE,
  type Code,
  ConnectionError,
  DEFAULT_WINDOW,
  FLAG,
  FRAME,
  FRAME_BYTES_MAX,
  preface,
  WINDOW_MAX,
} from './protocol.ts'
import type { SendingStream } from './sending-stream.ts'
import type { Turn } from './turn.ts'

/** After this number of bytes, a stream waits until all other waiting streams have had a turn. */
const SHARE_BYTES = 64 * 1024

export type SenderOptions = {
  readonly socket: Duplex
  /** All connections share the encoder, the blocks, and the budget for long writes (`turn`). */
  readonly encoder: HpackEncoder
  readonly blocks: Blocks
  readonly turn: Turn
  /** Whether this side uses the peer's dynamic HPACK table for fields that it sends repeatedly. */
  readonly hasTable: boolean
  readonly owner: SenderOwner
}

export interface SenderOwner {
  /** Called when END_STREAM was sent on a stream. */
  readonly onSent: (id: number) => void
}

export class Sender {
  readonly #socket: Duplex
  readonly #encoder: HpackEncoder
  readonly #owner: SenderOwner
  readonly #output: Output
  /** Streams that have data to send, in the order in which they take turns. */
  #queue: SendingStream[] = []
  #window = DEFAULT_WINDOW
  #table: FieldTable | undefined
  /**
   * Whether the next header block is the first one of the connection, or the first one since the
   * peer reduced its table.
   */
  #isFirstHead = true

  constructor({ socket, encoder, blocks, turn, hasTable, owner }: SenderOptions) {
    this.#socket = socket
    this.#table = hasTable ? new FieldTable() : undefined
    this.#encoder = encoder
    this.#owner = owner
    this.#output = new Output({
      socket,
      blocks,
      turn,
      onTurn: this.#onTurn,
      onWritten: this.#onWritten,
    })
  }

  get waitingBytes(): number {
    return this.#output.bytes
  }

  get writes(): number {
    return this.#output.writes
  }

  preface(): void {
    this.#output.raw(preface)
  }

  /**
   * Begins a header block. The caller must write the fields to the returned encoder and then call
   * `sendHead`. It must not call other methods in between, because connections share the encoder.
   */
  beginHead(): HpackEncoder {
    this.#encoder.begin(this.#isFirstHead, this, this.#table)
    return this.#encoder
  }

  /**
   * Applies the peer's SETTINGS_HEADER_TABLE_SIZE. If the peer's table is smaller than TABLE_BYTES,
   * the table is not used.
   */
  limitTable(bytes: number): void {
    if (bytes >= TABLE_BYTES) return
    this.#table = undefined
    this.#isFirstHead = true
  }

  sendHead(stream: SendingStream, isEnd: boolean): void {
    assert(this.#encoder.writer === this, 'another connection has begun this field block')
    this.#isFirstHead = false
    this.#table?.sent()
    const { block, length } = this.#encoder
    for (let sent = 0; sent < length; ) {
      const bytes = Math.min(length - sent, FRAME_BYTES_MAX)
      const flags =
        (sent + bytes === length ? FLAG.END_HEADERS : 0) |
        (isEnd && sent === 0 ? FLAG.END_STREAM : 0)
      const type = sent === 0 ? FRAME.HEADERS : FRAME.CONTINUATION
      const at = this.#output.frame({ length: bytes, type, flags, stream: stream.id })
      block.copy(this.#output.memory, at, sent, sent + bytes)
      sent += bytes
    }
    if (isEnd) this.#owner.onSent(stream.id)
  }

  /** Sends as much of the stream's data as possible now. The rest is sent later. */
  readonly send = (stream: SendingStream): void => {
    if (stream.isQueued) return
    this.#sendShare(stream, Number.MAX_SAFE_INTEGER)
    if (stream.leftBytes > 0) this.enqueue(stream)
  }

  /**
   * Queues a stream for its next turn if it has data to send and its flow control window is open.
   */
  enqueue(stream: SendingStream): void {
    if (stream.isQueued || stream.leftBytes === 0 || stream.sendWindow <= 0) return
    stream.isQueued = true
    this.#queue.push(stream)
    this.#output.wake()
  }

  /** Applies a WINDOW_UPDATE for the connection. */
  openWindow(bytes: number): void {
    this.#window += bytes
    if (this.#window > WINDOW_MAX)
      throw new ConnectionError(
        CODE.FLOW_CONTROL_ERROR,
        'WINDOW_UPDATE makes the window of the connection too large',
      )
    if (this.#queue.length > 0) this.#output.wake()
  }

  settings(settings: readonly (readonly [id: number, value: number])[]): void {
    let at = this.#output.frame({
      length: 6 * settings.length,
      type: FRAME.SETTINGS,
      flags: 0,
      stream: 0,
    })
    for (const [id, value] of settings) {
      this.#output.memory.writeUInt16BE(id, at)
      writeUint32(this.#output.memory, at + 2, value)
      at += 6
    }
  }

  acknowledgeSettings(): void {
    this.#output.frame({ length: 0, type: FRAME.SETTINGS, flags: FLAG.ACK, stream: 0 })
  }

  /** Sends a PING. `data` has eight bytes. */
  ping(data: Buffer, { isAnswer }: { readonly isAnswer: boolean }): void {
    const at = this.#output.frame({
      length: data.length,
      type: FRAME.PING,
      flags: isAnswer ? FLAG.ACK : 0,
      stream: 0,
    })
    data.copy(this.#output.memory, at)
  }

  windowUpdate(id: number, bytes: number): void {
    const at = this.#output.frame({ length: 4, type: FRAME.WINDOW_UPDATE, flags: 0, stream: id })
    writeUint32(this.#output.memory, at, bytes)
  }

  reset(id: number, code: Code): void {
    const at = this.#output.frame({ length: 4, type: FRAME.RST_STREAM, flags: 0, stream: id })
    writeUint32(this.#output.memory, at, code)
  }

  goaway(lastId: number, code: Code): void {
    const at = this.#output.frame({ length: 8, type: FRAME.GOAWAY, flags: 0, stream: 0 })
    writeUint32(this.#output.memory, at, lastId)
    writeUint32(this.#output.memory, at + 4, code)
  }

  /** Ends the socket when all frames have been written. */
  end(): void {
    this.#output.end()
  }

  /** Called when the socket is closed. */
  abandon(): void {
    this.#output.abandon()
  }

  /**
   * Whether too many control frames, such as acknowledgments of PING and SETTINGS, wait to be sent.
   * If so, the socket must not be read. The sender resumes it when the peer has received some of
   * the frames.
   */
  get isTooFullToRead(): boolean {
    return this.#output.isTooFullToRead
  }

  readonly #onWritten = (): void => {
    if (this.#queue.length > 0 && this.#window > 0) this.#output.wake()
    if (this.#socket.isPaused() && !this.#output.isTooFullToRead) this.#socket.resume()
  }

  readonly #onTurn = (): void => {
    while (this.#queue.length > 0 && this.#window > 0 && !this.#output.isFull) {
      const stream = this.#queue.shift()
      if (stream === undefined) return
      stream.isQueued = false
      if (stream.isClosed) continue
      this.#sendShare(stream, SHARE_BYTES)
      this.enqueue(stream)
    }
  }

  /**
   * Sends at most `share` bytes of the stream's data. Stops earlier if a flow control window or the
   * output is full.
   */
  #sendShare(stream: SendingStream, share: number): void {
    let isEnded = false
    for (let left = share; stream.leftBytes > 0 && left > 0; ) {
      const window = Math.min(stream.sendWindow, this.#window)
      if (window <= 0 || this.#output.isFull) return
      const bytes = Math.min(stream.leftBytes, window, FRAME_BYTES_MAX, this.#output.room)
      isEnded = stream.isEnding && stream.leftBytes === bytes
      this.#sendData(stream, bytes, isEnded)
      left -= bytes
    }
    if (stream.leftBytes > 0) return
    if (!stream.isEnding) return stream.taken()
    if (!isEnded)
      this.#output.frame({ length: 0, type: FRAME.DATA, flags: FLAG.END_STREAM, stream: stream.id })
    this.#owner.onSent(stream.id)
  }

  #sendData(stream: SendingStream, length: number, isEnd: boolean): void {
    stream.leftBytes -= length
    stream.sentBytes += length
    stream.sendWindow -= length
    this.#window -= length
    const flags = isEnd ? FLAG.END_STREAM : 0
    const at = this.#output.frame({ length, type: FRAME.DATA, flags, stream: stream.id })
    stream.copy(this.#output.memory, at, at + length)
  }
}
