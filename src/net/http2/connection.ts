/**
 * The common part of the client side and the server side of an HTTP/2 connection (RFC 9113). This
 * class receives frames, assembles and decodes field blocks, and handles flow control, SETTINGS and
 * PING. Its subclasses handle streams and the meaning of headers.
 */
import type { Duplex } from 'node:stream'
import { GrowingBuffer } from '../../lib/bytes/growing-buffer.ts'
import type { HeaderField } from './field.ts'
import { type Frame, FrameReader } from './frame-reader.ts'
import { type HeaderMemory, LARGE_HEADER_BYTES } from './header-memory.ts'
import { type HeaderLimits, HpackDecoder } from './hpack-decoder.ts'
import { byte, readUint32 } from '../../lib/bytes/big-endian.ts'
import {
  CODE,
  type Code,
  ConnectionError,
  DEFAULT_WINDOW,
  FLAG,
  FRAME,
  FRAME_BYTES_MAX,
  SETTING,
  STREAM_ID_MAX,
  WINDOW_MAX,
} from './protocol.ts'
import { Sender, type SenderOptions, type SenderOwner } from './sender.ts'
import type { SendingStream } from './sending-stream.ts'
import { IdTable } from '../../lib/collections/id-table.ts'

/**
 * Maximum number of CONTINUATION frames in a field block. Headers of one megabyte need 64 frames; a
 * larger number indicates a flood of small frames.
 */
const CONTINUATIONS_MAX = 256
/**
 * Maximum number of entries in a SETTINGS frame, as in nghttp2. There are only seven settings, and
 * processing each entry takes time (CVE-2020-11080).
 */
const SETTINGS_MAX = 32
/**
 * DATA frames with fewer bytes than this are mostly overhead. A smaller window increment makes the
 * other side send such frames. A well-behaved peer rarely does either, and an attacker pays almost
 * nothing for it (CVE-2019-9511, CVE-2019-9518). Both therefore count towards the limit for control
 * frames.
 */
const TINY_BYTES = 32
/** How long the peer has to read GOAWAY after a connection error. */
const ERROR_LINGER_MS = 1000
/**
 * After the last write, the socket is closed when the peer has been silent for this long. If the
 * socket closed while the peer still sends, for example WINDOW_UPDATE frames, TCP would reset the
 * connection and the peer would lose data. A peer that is silent for this long has received
 * everything.
 */
const LINGER_MS = 2000

export type Http2ConnectionOptions = Omit<SenderOptions, 'owner' | 'hasTable'> & {
  readonly limits: HeaderLimits
  /** Memory budget for large headers, shared by all connections. */
  readonly headerMemory: HeaderMemory
  /**
   * Registers a function that receives the data of the socket. The memory of a chunk is reused
   * after each call, so the function must copy what it keeps. If absent, `data` events are used.
   */
  readonly readTo?: ((onChunk: (chunk: Buffer) => void) => void) | undefined
}

type Side = {
  /**
   * Whether this side is the server. The peer is then a client, which begins with the connection
   * preface.
   */
  readonly isServer: boolean
  readonly settings: readonly (readonly [id: number, value: number])[]
  /**
   * Receive window of the connection. It is replenished as soon as data arrives, so that no stream
   * blocks the others.
   */
  readonly window: number
}

/** A header block that is incomplete until all of its CONTINUATION frames have arrived. */
type OpenBlock = {
  readonly stream: number
  readonly isEnd: boolean
  readonly bytes: GrowingBuffer
  readonly sinceMs: number
  frames: number
  /** Number of bytes reserved in the budget for large headers. */
  heldBytes: number
}

export type FieldBlock = {
  /**
   * The decoded headers. They are valid only during the call, and incomplete if they exceed the
   * limits.
   */
  readonly fields: readonly HeaderField[]
  /**
   * Size of the fields as defined for SETTINGS_MAX_HEADER_LIST_SIZE, or -1 if it exceeds the limit.
   */
  readonly bytes: number
}

/** A stream with a receiving and a sending half. */
export interface ReceivingStream extends SendingStream {
  receiveWindow: number
  returnedBytes: number
  isRemoteEnded: boolean
  readonly close: (code: Code) => void
}

export abstract class Http2Connection<Stream extends ReceivingStream> implements SenderOwner {
  protected readonly sender: Sender
  protected readonly streams = new IdTable<Stream>()
  protected readonly limits: HeaderLimits
  protected readonly headerMemory: HeaderMemory
  /** Send window of new streams: the peer's SETTINGS_INITIAL_WINDOW_SIZE. */
  protected initialSendWindow = DEFAULT_WINDOW
  /** The peer's SETTINGS_MAX_CONCURRENT_STREAMS. */
  protected peerStreamsMax = Number.POSITIVE_INFINITY
  protected isClosing = false
  protected isOver = false
  readonly #socket: Duplex
  readonly #reader: FrameReader
  readonly #decoder: HpackDecoder
  readonly #fields: HeaderField[] = []
  readonly #window: number
  #receiveWindow: number
  #hasSettings = false
  #openBlock: OpenBlock | undefined
  #isEnding = false
  #lingering: NodeJS.Timeout | undefined

  constructor(
    { socket, limits, headerMemory, readTo, ...shared }: Http2ConnectionOptions,
    { isServer, settings, window }: Side,
  ) {
    this.#socket = socket
    this.limits = limits
    this.headerMemory = headerMemory
    this.#decoder = new HpackDecoder(headerMemory)
    // As a client, never use a dynamic table: request headers contain secrets, which the peer would
    // keep in its HPACK table.
    this.sender = new Sender({
      ...shared,
      socket,
      hasTable: isServer,
      owner: this,
    })
    this.#reader = new FrameReader(isServer, this.#onFrame)
    this.#window = window
    this.#receiveWindow = window
    if (!isServer) this.sender.preface()
    this.sender.settings(settings)
    this.sender.windowUpdate(0, window - DEFAULT_WINDOW)
    if (readTo === undefined) socket.on('data', this.#onChunk)
    else readTo(this.#onChunk)
    socket.on('close', () => {
      this.abandon()
      this.sender.abandon()
    })
  }

  /** Number of bytes that have not been written to the socket yet. */
  get waitingBytes(): number {
    return this.sender.waitingBytes
  }

  get writes(): number {
    return this.sender.writes
  }

  /** When the current header block began. Undefined while no block is incomplete. */
  get fieldBlockSinceMs(): number | undefined {
    return this.#openBlock?.sinceMs
  }

  /** Sends GOAWAY with the error and closes the connection. */
  fail(error: ConnectionError): void {
    if (this.isOver) return
    this.sender.goaway(this.lastId, error.code)
    this.onFault(error)
    this.abandon()
    this.sender.end()
    setTimeout(() => this.#socket.destroy(), ERROR_LINGER_MS).unref()
  }

  /** Highest ID among the streams that the peer has opened. */
  protected abstract readonly lastId: number
  protected abstract onFields(id: number, isEnd: boolean, block: FieldBlock): void
  /** Called for a DATA frame, unless the peer has already ended the stream. */
  protected abstract onBody(stream: Stream, chunk: Buffer, isEnd: boolean): void
  /** Called for a frame on a stream that was never opened or is closed. */
  protected abstract onIdleOrClosed(id: number, type: number): void
  protected abstract onReset(stream: Stream, code: number): void
  protected abstract onGoaway(code: number, lastId: number): void
  /** Called when this side has sent END_STREAM on a stream. */
  abstract onSent(id: number): void
  /** Handles a stream error (RFC 9113, 5.4.2) by sending RST_STREAM with this code. */
  protected abstract streamError(stream: Stream, code: Code): void
  /** Called when the connection is closed because the peer violated the protocol. */
  protected abstract onFault(error: ConnectionError): void

  /**
   * Counts a frame that costs the peer almost nothing, so that the subclass can limit such frames.
   */
  protected countControl(_what: string): void {}
  protected onSettings(): void {}
  protected onPong(): void {}
  protected answerPing(data: Buffer): void {
    this.sender.ping(data, { isAnswer: true })
  }
  /** Called when all frames of a chunk have been handled. */
  protected onRead(): void {}

  /**
   * Lets the peer send more bytes, by WINDOW_UPDATE. It is sent only when half of the window can be
   * returned, to save frames.
   */
  protected updateWindow(stream: Stream, bytes: number, window: number): void {
    if (stream.isRemoteEnded || stream.isClosed) return
    stream.returnedBytes += bytes
    if (stream.returnedBytes < window / 2) return
    this.sender.windowUpdate(stream.id, stream.returnedBytes)
    stream.receiveWindow += stream.returnedBytes
    stream.returnedBytes = 0
  }

  /**
   * Closes the connection when everything has been sent, even if the peer takes a long time to read
   * it.
   */
  protected end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.sender.end()
    this.#socket.once('finish', () => {
      this.#lingering = setTimeout(() => this.#socket.destroy(), LINGER_MS).unref()
    })
  }

  /** Closes all streams. Frames that arrive later are ignored. */
  protected abandon(): void {
    this.isOver = true
    this.#dropOpenBlock()
    this.#fields.length = 0
    const streams = this.streams.all()
    this.streams.clear()
    for (const stream of streams) stream.close(CODE.CANCEL)
  }

  readonly #onChunk = (chunk: Buffer): void => {
    this.#lingering?.refresh()
    if (this.isOver) return
    try {
      this.#reader.read(chunk)
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      return this.fail(error)
    }
    this.onRead()
    if (this.sender.isTooFullToRead) this.#socket.pause()
  }

  readonly #onFrame = (frame: Frame): void => {
    if (this.isOver) return
    const { type } = frame
    if (this.#openBlock !== undefined && type !== FRAME.CONTINUATION)
      throw protocolError('a field block is interrupted by a frame other than CONTINUATION')
    if (!this.#hasSettings) {
      if (type !== FRAME.SETTINGS || hasFlag(frame, FLAG.ACK))
        throw protocolError('the first frame is not SETTINGS')
      this.#hasSettings = true
    }
    if (type === FRAME.HEADERS) this.#onHeaders(frame)
    else if (type === FRAME.DATA) this.#onData(frame)
    else if (type === FRAME.WINDOW_UPDATE) this.#onWindowUpdate(frame)
    else if (type === FRAME.RST_STREAM) this.#onReset(frame)
    else if (type === FRAME.SETTINGS) this.#onSettings(frame)
    else if (type === FRAME.PING) this.#onPing(frame)
    else if (type === FRAME.CONTINUATION) this.#onContinuation(frame)
    else if (type === FRAME.GOAWAY) this.#onGoaway(frame)
    else if (type === FRAME.PUSH_PROMISE)
      throw protocolError('PUSH_PROMISE, which only a server may send and which is disabled here')
    else this.#onOther(frame)
  }

  #onHeaders(frame: Frame): void {
    const { stream, bytes } = frame
    if (stream === 0) throw protocolError('HEADERS on stream 0')
    const { start, end } = unpadded(frame)
    const priorityBytes = hasFlag(frame, FLAG.PRIORITY) ? PRIORITY_BYTES : 0
    if (end - start < priorityBytes) throw wrongSize('HEADERS')
    if (priorityBytes > 0 && dependsOnItself(frame, start))
      throw protocolError('a stream depends on itself')
    const isEnd = hasFlag(frame, FLAG.END_STREAM)
    const block = bytes.subarray(start + priorityBytes, end)
    if (hasFlag(frame, FLAG.END_HEADERS)) this.#onBlock(stream, isEnd, block)
    else this.#openBlockOf(stream, isEnd, block)
  }

  #openBlockOf(stream: number, isEnd: boolean, block: Buffer): void {
    const bytes = new GrowingBuffer()
    // Copies the fragment, because `append` stores its first argument without a copy, and with
    // `readTo` the memory of the fragment is reused.
    bytes.append(Buffer.from(block))
    this.#openBlock = { stream, isEnd, bytes, sinceMs: performance.now(), frames: 1, heldBytes: 0 }
  }

  #onContinuation(frame: Frame): void {
    const open = this.#openBlock
    if (open === undefined || open.stream !== frame.stream)
      throw protocolError('CONTINUATION without HEADERS before it')
    open.frames++
    const { length } = open.bytes
    const size = frame.end - frame.start
    if (length + size > this.limits.headerBytesMax || open.frames > CONTINUATIONS_MAX) {
      throw new ConnectionError(
        CODE.ENHANCE_YOUR_CALM,
        'a field block is too long, or in too many CONTINUATION frames',
      )
    }
    if (length + size > LARGE_HEADER_BYTES) {
      if (!this.headerMemory.take(size)) {
        throw new ConnectionError(CODE.ENHANCE_YOUR_CALM, 'too many large field blocks at once')
      }
      open.heldBytes += size
    }
    open.bytes.append(frame.bytes.subarray(frame.start, frame.end))
    if (!hasFlag(frame, FLAG.END_HEADERS)) return
    this.#dropOpenBlock()
    this.#onBlock(open.stream, open.isEnd, open.bytes.take())
  }

  #dropOpenBlock(): void {
    this.headerMemory.give(this.#openBlock?.heldBytes ?? 0)
    this.#openBlock = undefined
  }

  #onBlock(id: number, isEnd: boolean, block: Buffer): void {
    const fields = this.#fields
    const bytes = this.#decoder.decode(block, fields, this.limits)
    this.onFields(id, isEnd, { fields, bytes })
    fields.length = 0
  }

  #onData(frame: Frame): void {
    const { stream: id, bytes } = frame
    if (id === 0) throw protocolError('DATA on stream 0')
    // Padding also counts for flow control (RFC 9113, 6.1).
    const size = frame.end - frame.start
    this.#takeWindow(size)
    const { start, end } = unpadded(frame)
    const isEnd = hasFlag(frame, FLAG.END_STREAM)
    const stream = this.streams.get(id)
    if (end - start < TINY_BYTES && !frame.isPiece && (!isEnd || stream === undefined))
      this.countControl('small DATA')
    if (stream === undefined) return this.onIdleOrClosed(id, FRAME.DATA)
    if (stream.isRemoteEnded) return this.streamError(stream, CODE.STREAM_CLOSED)
    stream.receiveWindow -= size
    if (stream.receiveWindow < 0) return this.streamError(stream, CODE.FLOW_CONTROL_ERROR)
    stream.returnedBytes += size - (end - start)
    this.onBody(stream, bytes.subarray(start, end), isEnd)
  }

  #takeWindow(bytes: number): void {
    this.#receiveWindow -= bytes
    if (this.#receiveWindow < 0)
      throw new ConnectionError(CODE.FLOW_CONTROL_ERROR, 'DATA beyond the window of the connection')
    if (this.#receiveWindow > this.#window / 2) return
    this.sender.windowUpdate(0, this.#window - this.#receiveWindow)
    this.#receiveWindow = this.#window
  }

  #onWindowUpdate({ stream: id, bytes, start, end }: Frame): void {
    if (end - start !== 4) throw wrongSize('WINDOW_UPDATE')
    const more = readUint32(bytes, start) & WINDOW_MAX
    if (more < TINY_BYTES) this.countControl('small WINDOW_UPDATE')
    if (id === 0) {
      if (more === 0) throw protocolError('WINDOW_UPDATE of 0')
      return this.sender.openWindow(more)
    }
    const stream = this.streams.get(id)
    if (stream === undefined) return this.onIdleOrClosed(id, FRAME.WINDOW_UPDATE)
    if (more === 0) return this.streamError(stream, CODE.PROTOCOL_ERROR)
    stream.sendWindow += more
    if (stream.sendWindow > WINDOW_MAX) this.streamError(stream, CODE.FLOW_CONTROL_ERROR)
    else this.sender.enqueue(stream)
  }

  #onReset({ stream: id, bytes, start, end }: Frame): void {
    if (id === 0) throw protocolError('RST_STREAM on stream 0')
    if (end - start !== 4) throw wrongSize('RST_STREAM')
    const stream = this.streams.get(id)
    if (stream === undefined) this.onIdleOrClosed(id, FRAME.RST_STREAM)
    else this.onReset(stream, readUint32(bytes, start))
  }

  #onSettings(frame: Frame): void {
    const { bytes, start, end } = frame
    if (frame.stream !== 0) throw protocolError('SETTINGS on a stream')
    if (hasFlag(frame, FLAG.ACK)) {
      if (end !== start) throw wrongSize('SETTINGS')
      return this.countControl('SETTINGS')
    }
    if ((end - start) % SETTING_BYTES !== 0) throw wrongSize('SETTINGS')
    if (end - start > SETTINGS_MAX * SETTING_BYTES) {
      throw new ConnectionError(CODE.ENHANCE_YOUR_CALM, 'SETTINGS has too many entries')
    }
    this.countControl('SETTINGS')
    let window = this.initialSendWindow
    for (let at = start; at < end; at += SETTING_BYTES) {
      const id = (byte(bytes, at) << 8) | byte(bytes, at + 1)
      const value = readUint32(bytes, at + 2)
      if (id === SETTING.INITIAL_WINDOW_SIZE) window = value
      this.#onSetting(id, value)
    }
    if (window !== this.initialSendWindow) this.#resizeWindows(window)
    this.sender.acknowledgeSettings()
    this.onSettings()
  }

  /**
   * Validates and applies one entry of a SETTINGS frame. Unknown settings are ignored, and so are
   * settings for features that this code does not use.
   */
  #onSetting(id: number, value: number): void {
    if (id === SETTING.ENABLE_PUSH && value > 1)
      throw protocolError('SETTINGS_ENABLE_PUSH is neither 0 nor 1')
    if (id === SETTING.MAX_FRAME_SIZE && (value < FRAME_BYTES_MAX || value > 0xffffff))
      throw protocolError('SETTINGS_MAX_FRAME_SIZE is out of range')
    if (id === SETTING.HEADER_TABLE_SIZE) this.sender.limitTable(value)
    if (id === SETTING.MAX_CONCURRENT_STREAMS) this.peerStreamsMax = value
    if (id === SETTING.INITIAL_WINDOW_SIZE && value > WINDOW_MAX) throw windowTooLarge()
  }

  /**
   * Adds the difference to the send windows of all streams. A SETTINGS frame can contain the
   * setting several times, but this method is called only once per frame, because it visits all
   * streams.
   */
  #resizeWindows(window: number): void {
    const more = window - this.initialSendWindow
    this.initialSendWindow = window
    for (const stream of this.streams.all()) {
      stream.sendWindow += more
      if (stream.sendWindow > WINDOW_MAX) throw windowTooLarge()
      this.sender.enqueue(stream)
    }
  }

  #onPing(frame: Frame): void {
    const { bytes, start, end } = frame
    if (frame.stream !== 0) throw protocolError('PING on a stream')
    if (end - start !== 8) throw wrongSize('PING')
    this.countControl('PING')
    if (hasFlag(frame, FLAG.ACK)) this.onPong()
    else this.answerPing(bytes.subarray(start, end))
  }

  #onGoaway({ stream, bytes, start, end }: Frame): void {
    if (stream !== 0) throw protocolError('GOAWAY on a stream')
    if (end - start < 8) throw wrongSize('GOAWAY')
    this.countControl('GOAWAY')
    this.onGoaway(readUint32(bytes, start + 4), readUint32(bytes, start) & STREAM_ID_MAX)
  }

  /** Handles PRIORITY, which is deprecated (RFC 9113, 5.3). Ignores frames of unknown types. */
  #onOther(frame: Frame): void {
    this.countControl('PRIORITY and unknown')
    if (frame.type !== FRAME.PRIORITY) return
    if (frame.stream === 0) throw protocolError('PRIORITY on stream 0')
    if (frame.end - frame.start !== PRIORITY_BYTES) throw wrongSize('PRIORITY')
    if (dependsOnItself(frame, frame.start)) throw protocolError('a stream depends on itself')
  }
}

const windowTooLarge = (): ConnectionError =>
  new ConnectionError(
    CODE.FLOW_CONTROL_ERROR,
    'SETTINGS_INITIAL_WINDOW_SIZE makes a window too large',
  )

const SETTING_BYTES = 6

const hasFlag = ({ flags }: Frame, flag: number): boolean => (flags & flag) !== 0

const PRIORITY_BYTES = 5

const dependsOnItself = ({ bytes, stream }: Frame, at: number): boolean =>
  (readUint32(bytes, at) & STREAM_ID_MAX) === stream

/** Returns the position of the payload in the frame, without padding. */
function unpadded(frame: Frame): { start: number; end: number } {
  const { bytes, start, end } = frame
  if (!hasFlag(frame, FLAG.PADDED)) return { start, end }
  if (end === start) throw wrongSize('padding')
  const padding = byte(bytes, start)
  if (padding > end - start - 1) throw protocolError('more padding than payload')
  return { start: start + 1, end: end - padding }
}

export const protocolError = (message: string): ConnectionError =>
  new ConnectionError(CODE.PROTOCOL_ERROR, message)
const wrongSize = (what: string): ConnectionError =>
  new ConnectionError(CODE.FRAME_SIZE_ERROR, `${what} has the wrong size`)
