/**
 * What both sides of a connection do alike (RFC 9113): frames in, headers put together and unpacked, windows, settings, pings.
 * What a stream is, and what its headers mean, is the business of the side.
 */
import type { Socket } from 'node:net'
import { GrowingBuffer } from '../lib/growing-buffer.ts'
import type { HeaderField } from './field.ts'
import { type Frame, FrameReader } from './frame-reader.ts'
import { type HeaderMemory, LARGE_HEADER_BYTES } from './header-memory.ts'
import { type HeaderLimits, HpackDecoder } from './hpack-decoder.ts'
import {
  byte,
  CODE,
  type Code,
  ConnectionError,
  DEFAULT_WINDOW,
  FLAG,
  FRAME,
  FRAME_BYTES_MAX,
  readUint32,
  SETTING,
  STREAM_ID_MAX,
  WINDOW_MAX,
} from './protocol.ts'
import { Sender, type SenderParts } from './sender.ts'
import type { SendingStream } from './sending-stream.ts'

/** Headers of a megabyte are 64 frames; more are a flood of small ones. */
const CONTINUATIONS_MAX = 256
/** As nghttp2: there are seven settings, and each entry is work (CVE-2020-11080). */
const SETTINGS_MAX = 32
/** DATA with less than this is mostly frame, and a window opened by less makes us send such DATA: both are counted like
 * frames that say nothing (CVE-2019-9511, CVE-2019-9518). No client in good faith sends many of them. */
const TINY_BYTES = 32
/** After a connection error the peer has this long to read GOAWAY. */
const ERROR_LINGER_MS = 1000
/**
 * After our last byte the peer has all that we sent, or the network still has some of it: closing the socket while the peer
 * goes on sending (WINDOW_UPDATE for what it reads) would cut that off. A peer that is silent for this long has it all.
 */
const LINGER_MS = 2000

export type ConnectionParts = Omit<SenderParts, 'onFinished'> & {
  readonly limits: HeaderLimits
  /** Shared by all connections. */
  readonly headerMemory: HeaderMemory
}

type Side = {
  /** The peer begins with the preface of a client. */
  readonly isServer: boolean
  readonly settings: readonly (readonly [id: number, value: number])[]
  /** What the peer may send on all streams together. It is given back as it comes, so that no stream stops the others. */
  readonly window: number
}

/** A field block whose CONTINUATION frames are still to come. */
type OpenBlock = {
  readonly stream: number
  readonly isEnd: boolean
  readonly bytes: GrowingBuffer
  readonly sinceMs: number
  frames: number
  /** What it has of the memory for large ones. */
  heldBytes: number
}

export type FieldBlock = {
  /** Good until the call returns. Not all of them if they are too many. */
  readonly fields: readonly HeaderField[]
  /** As SETTINGS_MAX_HEADER_LIST_SIZE counts them; -1: more than allowed. */
  readonly bytes: number
}

/** A stream that receives, too. */
export interface ReceivingStream extends SendingStream {
  receiveWindow: number
  returnedBytes: number
  isRemoteEnded: boolean
  readonly close: (code: Code) => void
}

export abstract class Http2Connection<Stream extends ReceivingStream> {
  protected readonly sender: Sender
  protected readonly streams = new Map<number, Stream>()
  protected readonly limits: HeaderLimits
  protected readonly headerMemory: HeaderMemory
  /** What new streams may send, and receive. */
  protected initialSendWindow = DEFAULT_WINDOW
  /** How many streams the peer takes at once. */
  protected peerStreamsMax = Number.POSITIVE_INFINITY
  protected isClosing = false
  protected isOver = false
  readonly #socket: Socket
  readonly #reader: FrameReader
  readonly #decoder: HpackDecoder
  readonly #fields: HeaderField[] = []
  readonly #window: number
  #receiveWindow: number
  #hasSettings = false
  #openBlock: OpenBlock | undefined
  #isEnding = false
  #lingering: NodeJS.Timeout | undefined

  constructor({ socket, limits, headerMemory, ...shared }: ConnectionParts, { isServer, settings, window }: Side) {
    this.#socket = socket
    this.limits = limits
    this.headerMemory = headerMemory
    this.#decoder = new HpackDecoder(headerMemory)
    this.sender = new Sender({ ...shared, socket, onFinished: (stream) => this.onSent(stream.id) })
    this.#reader = new FrameReader(isServer, this.#onFrame)
    this.#window = window
    this.#receiveWindow = window
    if (!isServer) this.sender.preface()
    this.sender.settings(settings)
    this.sender.windowUpdate(0, window - DEFAULT_WINDOW)
    socket.on('data', this.#onChunk)
    socket.on('close', () => this.abandon())
  }

  /** Bytes that the peer has not taken yet, and how often it took some. */
  get waitingBytes(): number {
    return this.sender.waitingBytes
  }

  get writes(): number {
    return this.sender.writes
  }

  /** Since when the rest of a field block is awaited. */
  get fieldBlockSinceMs(): number | undefined {
    return this.#openBlock?.sinceMs
  }

  /** Tells the peer why, and ends. */
  fail(error: ConnectionError): void {
    if (this.isOver) return
    this.sender.goaway(this.lastId, error.code)
    this.onFault(error)
    this.abandon()
    this.sender.end()
    setTimeout(() => this.#socket.destroy(), ERROR_LINGER_MS).unref()
  }

  /** The last stream of the peer's that was begun. */
  protected abstract readonly lastId: number
  protected abstract onFields(id: number, isEnd: boolean, block: FieldBlock): void
  /** Of a stream that is there, and is not at its end. */
  protected abstract onBody(stream: Stream, chunk: Buffer, isEnd: boolean): void
  /** A frame of a stream that has not begun, or is over. */
  protected abstract onIdleOrClosed(id: number, type: number): void
  protected abstract onReset(stream: Stream, code: number): void
  protected abstract onGoaway(code: number, lastId: number): void
  /** The last byte that we send on a stream is on its way. */
  protected abstract onSent(id: number): void
  /** A stream error (RFC 9113, 5.4.2): RST_STREAM with this code. */
  protected abstract streamError(stream: Stream, code: Code): void
  /** The connection ends for what the peer did. */
  protected abstract onFault(error: ConnectionError): void

  /** A frame that costs the peer nothing. */
  protected countControl(_what: string): void {}
  protected onSettings(): void {}
  protected onPong(): void {}
  protected answerPing(data: Buffer): void {
    this.sender.ping(data, { isAnswer: true })
  }
  /** All that came together has been read. */
  protected onRead(): void {}

  /** The peer may send so much more on this stream: it is told by WINDOW_UPDATE when that is worth a frame. */
  protected updateWindow(stream: Stream, bytes: number, window: number): void {
    if (stream.isRemoteEnded || stream.isClosed) return
    stream.returnedBytes += bytes
    if (stream.returnedBytes < window / 2) return
    this.sender.windowUpdate(stream.id, stream.returnedBytes)
    stream.receiveWindow += stream.returnedBytes
    stream.returnedBytes = 0
  }

  /** Once all that is there to send has been sent, however long the peer takes for it. */
  protected end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.sender.end()
    this.#socket.once('finish', () => {
      this.#lingering = setTimeout(() => this.#socket.destroy(), LINGER_MS).unref()
    })
  }

  /** Nothing more will come. */
  protected abandon(): void {
    this.isOver = true
    this.#dropOpenBlock()
    this.#fields.length = 0
    const streams = [...this.streams.values()]
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
    this.sender.pauseReadingIfFull()
  }

  readonly #onFrame = (frame: Frame): void => {
    if (this.isOver) return
    const { type } = frame
    if (this.#openBlock !== undefined && type !== FRAME.CONTINUATION)
      throw protocolError('a field block is interrupted by another frame than CONTINUATION')
    if (!this.#hasSettings) {
      if (type !== FRAME.SETTINGS || hasFlag(frame, FLAG.ACK)) throw protocolError('the first frame is not SETTINGS')
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
      throw protocolError('PUSH_PROMISE, which only a server may send and nobody here has enabled')
    else this.#onOther(frame)
  }

  #onHeaders(frame: Frame): void {
    const { stream, bytes } = frame
    if (stream === 0) throw protocolError('HEADERS on stream 0')
    const { start, end } = unpadded(frame)
    const priorityBytes = hasFlag(frame, FLAG.PRIORITY) ? PRIORITY_BYTES : 0
    if (end - start < priorityBytes) throw wrongSize('HEADERS')
    if (priorityBytes > 0 && dependsOnItself(frame, start)) throw protocolError('a stream depends on itself')
    const isEnd = hasFlag(frame, FLAG.END_STREAM)
    const block = bytes.subarray(start + priorityBytes, end)
    if (hasFlag(frame, FLAG.END_HEADERS)) this.#onBlock(stream, isEnd, block)
    else this.#openBlockOf(stream, isEnd, block)
  }

  #openBlockOf(stream: number, isEnd: boolean, block: Buffer): void {
    const bytes = new GrowingBuffer()
    bytes.append(block)
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
      throw new ConnectionError(CODE.ENHANCE_YOUR_CALM, 'a field block is too long, or in too many CONTINUATION frames')
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
    // Padding counts for flow control as well (RFC 9113, 6.1).
    const size = frame.end - frame.start
    this.#takeWindow(size)
    const { start, end } = unpadded(frame)
    const isEnd = hasFlag(frame, FLAG.END_STREAM)
    const stream = this.streams.get(id)
    if (end - start < TINY_BYTES && (!isEnd || stream === undefined)) this.countControl('small DATA')
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

  /** The others are about what we never do. */
  #onSetting(id: number, value: number): void {
    if (id === SETTING.ENABLE_PUSH && value > 1) throw protocolError('SETTINGS_ENABLE_PUSH is neither 0 nor 1')
    if (id === SETTING.MAX_FRAME_SIZE && (value < FRAME_BYTES_MAX || value > 0xffffff))
      throw protocolError('SETTINGS_MAX_FRAME_SIZE is out of range')
    if (id === SETTING.MAX_CONCURRENT_STREAMS) this.peerStreamsMax = value
    if (id === SETTING.INITIAL_WINDOW_SIZE && value > WINDOW_MAX) throw windowTooLarge()
  }

  /** Once for each frame, however often it names the setting: this walks through all streams. */
  #resizeWindows(window: number): void {
    const more = window - this.initialSendWindow
    this.initialSendWindow = window
    for (const stream of this.streams.values()) {
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

  /** Priorities, which nobody heeds any more (RFC 9113, 5.3), and what we do not know. */
  #onOther(frame: Frame): void {
    this.countControl('PRIORITY and unknown')
    if (frame.type !== FRAME.PRIORITY) return
    if (frame.stream === 0) throw protocolError('PRIORITY on stream 0')
    if (frame.end - frame.start !== PRIORITY_BYTES) throw wrongSize('PRIORITY')
    if (dependsOnItself(frame, frame.start)) throw protocolError('a stream depends on itself')
  }
}

const windowTooLarge = (): ConnectionError =>
  new ConnectionError(CODE.FLOW_CONTROL_ERROR, 'SETTINGS_INITIAL_WINDOW_SIZE makes a window too large')

const SETTING_BYTES = 6

const hasFlag = ({ flags }: Frame, flag: number): boolean => (flags & flag) !== 0

const PRIORITY_BYTES = 5

const dependsOnItself = ({ bytes, stream }: Frame, at: number): boolean =>
  (readUint32(bytes, at) & STREAM_ID_MAX) === stream

/** Where the content is without its padding. */
function unpadded(frame: Frame): { start: number; end: number } {
  const { bytes, start, end } = frame
  if (!hasFlag(frame, FLAG.PADDED)) return { start, end }
  if (end === start) throw wrongSize('padding')
  const padding = byte(bytes, start)
  if (padding > end - start - 1) throw protocolError('more padding than payload')
  return { start: start + 1, end: end - padding }
}

export const protocolError = (message: string): ConnectionError => new ConnectionError(CODE.PROTOCOL_ERROR, message)
const wrongSize = (what: string): ConnectionError =>
  new ConnectionError(CODE.FRAME_SIZE_ERROR, `${what} has a wrong size`)
