/**
 * What both sides of a connection do alike (RFC 9113): frames in, headers put together and unpacked, windows, settings, pings.
 * What a stream is, and what its headers mean, is the business of the side.
 */
import type { Socket } from 'node:net'
import type { Field } from './field.ts'
import { type Frame, FrameReader } from './frame-reader.ts'
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
/** After its last word, a connection has this long to go by itself. */
const LINGER_MS = 1000

export type ConnectionParts = Omit<SenderParts, 'onFinished'> & { readonly limits: HeaderLimits }

type Side = {
  /** The peer begins with the preface of a client. */
  readonly isServer: boolean
  readonly settings: readonly (readonly [id: number, value: number])[]
  /** What the peer may send on all streams together. It is given back as it comes, so that no stream stops the others. */
  readonly window: number
}

type HeaderBlock = { readonly stream: number; readonly isEnd: boolean; readonly parts: Buffer[]; bytes: number }

/** A stream that receives, too. */
export interface ReceivingStream extends SendingStream {
  receiveWindow: number
  returnedBytes: number
  isRemoteEnded: boolean
  readonly close: (code: Code) => void
}

export abstract class Connection<Stream extends ReceivingStream> {
  protected readonly sender: Sender
  protected readonly streams = new Map<number, Stream>()
  protected readonly limits: HeaderLimits
  /** What new streams may send, and receive. */
  protected initialSendWindow = DEFAULT_WINDOW
  /** How many streams the peer takes at once. */
  protected peerStreamsMax = Number.POSITIVE_INFINITY
  protected isClosing = false
  protected isOver = false
  readonly #socket: Socket
  readonly #reader: FrameReader
  readonly #decoder = new HpackDecoder()
  readonly #fields: Field[] = []
  readonly #window: number
  #receiveWindow: number
  #hasSettings = false
  #headerBlock: HeaderBlock | undefined

  constructor({ socket, limits, ...shared }: ConnectionParts, { isServer, settings, window }: Side) {
    this.#socket = socket
    this.limits = limits
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

  /** Tells the peer why, and ends. */
  fail(error: ConnectionError): void {
    if (this.isOver) return
    this.sender.goaway(this.lastId, error.code)
    this.onFault(error)
    this.abandon()
    this.end()
  }

  /** The last stream of the peer's that was begun. */
  protected abstract readonly lastId: number
  /** What a block of headers says. `fields` is good until this returns; it holds not all of them if they are too many. */
  protected abstract onFields(id: number, isEnd: boolean, block: { fields: readonly Field[]; isWithin: boolean }): void
  /** Of a stream that is there, and is not at its end. */
  protected abstract onBody(stream: Stream, chunk: Buffer, isEnd: boolean): void
  /** A frame of a stream that is not there. */
  protected abstract onStray(id: number, type: number): void
  protected abstract onReset(stream: Stream, code: number): void
  protected abstract onGoaway(code: number, lastId: number): void
  /** The last byte that we send on a stream is on its way. */
  protected abstract onSent(id: number): void
  /** The stream has broken a rule. */
  protected abstract offend(stream: Stream, code: Code): void
  /** The connection ends for what the peer did. */
  protected abstract onFault(error: ConnectionError): void

  /** A frame that costs the peer nothing. */
  protected countControl(_what: string): void {}
  protected onSettings(): void {}
  protected onPong(): void {}
  /** All that came together has been read. */
  protected onRead(): void {}

  /** The peer may send so much more on this stream. */
  protected giveBack(stream: Stream, bytes: number, window: number): void {
    if (stream.isRemoteEnded || stream.isClosed) return
    stream.returnedBytes += bytes
    if (stream.returnedBytes < window / 2) return
    this.sender.windowUpdate(stream.id, stream.returnedBytes)
    stream.receiveWindow += stream.returnedBytes
    stream.returnedBytes = 0
  }

  protected end(): void {
    this.sender.end()
    setTimeout(() => this.#socket.destroy(), LINGER_MS).unref()
  }

  /** Nothing more will come. */
  protected abandon(): void {
    this.isOver = true
    const streams = [...this.streams.values()]
    this.streams.clear()
    for (const stream of streams) stream.close(CODE.cancel)
  }

  readonly #onChunk = (chunk: Buffer): void => {
    if (this.isOver) return
    try {
      this.#reader.read(chunk)
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      return this.fail(error)
    }
    this.onRead()
    this.sender.pauseIfDeaf()
  }

  readonly #onFrame = (frame: Frame): void => {
    if (this.isOver) return
    const { type } = frame
    if (this.#headerBlock !== undefined && type !== FRAME.continuation) throw broken('headers are interrupted')
    if (!this.#hasSettings) {
      if (type !== FRAME.settings || hasFlag(frame, FLAG.ack)) throw broken('settings must come first')
      this.#hasSettings = true
    }
    if (type === FRAME.headers) this.#onHeaders(frame)
    else if (type === FRAME.data) this.#onData(frame)
    else if (type === FRAME.windowUpdate) this.#onWindowUpdate(frame)
    else if (type === FRAME.reset) this.#onReset(frame)
    else if (type === FRAME.settings) this.#onSettings(frame)
    else if (type === FRAME.ping) this.#onPing(frame)
    else if (type === FRAME.continuation) this.#onContinuation(frame)
    else if (type === FRAME.goaway) this.#onGoaway(frame)
    else if (type === FRAME.pushPromise) throw broken('nobody here takes a push')
    else this.#onOther(frame)
  }

  #onHeaders(frame: Frame): void {
    const { stream, bytes } = frame
    if (stream === 0) throw broken('headers of no stream')
    const { start, end } = unpadded(frame)
    const priorityBytes = hasFlag(frame, FLAG.priority) ? PRIORITY_BYTES : 0
    if (end - start < priorityBytes) throw wrongSize('headers')
    if (priorityBytes > 0 && dependsOnItself(frame, start)) throw broken('a stream depends on itself')
    const isEnd = hasFlag(frame, FLAG.endStream)
    const block = bytes.subarray(start + priorityBytes, end)
    if (hasFlag(frame, FLAG.endHeaders)) this.#onBlock(stream, isEnd, block)
    else this.#headerBlock = { stream, isEnd, parts: [block], bytes: block.length }
  }

  #onContinuation(frame: Frame): void {
    const begun = this.#headerBlock
    if (begun === undefined || begun.stream !== frame.stream) throw broken('headers go on that have not begun')
    begun.parts.push(frame.bytes.subarray(frame.start, frame.end))
    begun.bytes += frame.end - frame.start
    if (begun.bytes > this.limits.headerBytesMax || begun.parts.length > CONTINUATIONS_MAX) {
      throw new ConnectionError(CODE.calm, 'headers do not come to an end')
    }
    if (!hasFlag(frame, FLAG.endHeaders)) return
    this.#headerBlock = undefined
    this.#onBlock(begun.stream, begun.isEnd, Buffer.concat(begun.parts))
  }

  #onBlock(id: number, isEnd: boolean, block: Buffer): void {
    const fields = this.#fields
    fields.length = 0
    const isWithin = this.#decoder.decode(block, fields, this.limits)
    this.onFields(id, isEnd, { fields, isWithin })
  }

  #onData(frame: Frame): void {
    const { stream: id, bytes } = frame
    if (id === 0) throw broken('a body of no stream')
    // Padding counts as well.
    const size = frame.end - frame.start
    this.#takeWindow(size)
    const { start, end } = unpadded(frame)
    const stream = this.streams.get(id)
    if (stream === undefined) return this.onStray(id, FRAME.data)
    if (stream.isRemoteEnded) return this.offend(stream, CODE.streamClosed)
    stream.receiveWindow -= size
    if (stream.receiveWindow < 0) return this.offend(stream, CODE.flowControl)
    const isEnd = hasFlag(frame, FLAG.endStream)
    if (end === start && !isEnd) this.countControl('empty frames')
    stream.returnedBytes += size - (end - start)
    this.onBody(stream, bytes.subarray(start, end), isEnd)
  }

  #takeWindow(bytes: number): void {
    this.#receiveWindow -= bytes
    if (this.#receiveWindow < 0) throw new ConnectionError(CODE.flowControl, 'more was sent than allowed')
    if (this.#receiveWindow > this.#window / 2) return
    this.sender.windowUpdate(0, this.#window - this.#receiveWindow)
    this.#receiveWindow = this.#window
  }

  #onWindowUpdate({ stream: id, bytes, start, end }: Frame): void {
    if (end - start !== 4) throw wrongSize('a window update')
    const more = readUint32(bytes, start) & WINDOW_MAX
    if (id === 0) {
      if (more === 0) throw broken('a window update of nothing')
      return this.sender.openWindow(more)
    }
    const stream = this.streams.get(id)
    if (stream === undefined) return this.onStray(id, FRAME.windowUpdate)
    if (more === 0) return this.offend(stream, CODE.protocol)
    stream.sendWindow += more
    if (stream.sendWindow > WINDOW_MAX) this.offend(stream, CODE.flowControl)
    else this.sender.enqueue(stream)
  }

  #onReset({ stream: id, bytes, start, end }: Frame): void {
    if (id === 0) throw broken('the end of no stream')
    if (end - start !== 4) throw wrongSize('the end of a stream')
    const stream = this.streams.get(id)
    if (stream === undefined) this.onStray(id, FRAME.reset)
    else this.onReset(stream, readUint32(bytes, start))
  }

  #onSettings(frame: Frame): void {
    const { bytes, start, end } = frame
    if (frame.stream !== 0) throw broken('settings of a stream')
    if (hasFlag(frame, FLAG.ack)) {
      if (end !== start) throw wrongSize('settings')
      return
    }
    if ((end - start) % 6 !== 0) throw wrongSize('settings')
    for (let at = start; at < end; at += 6) {
      this.#onSetting((byte(bytes, at) << 8) | byte(bytes, at + 1), readUint32(bytes, at + 2))
    }
    this.countControl('settings')
    this.sender.acknowledgeSettings()
    this.onSettings()
  }

  /** The others are about what we never do. */
  #onSetting(id: number, value: number): void {
    if (id === SETTING.enablePush && value > 1) throw broken('a setting has a value that it cannot have')
    if (id === SETTING.frameBytesMax && (value < FRAME_BYTES_MAX || value > 0xffffff))
      throw broken('a wrong frame size')
    if (id === SETTING.streamsMax) this.peerStreamsMax = value
    if (id !== SETTING.initialWindow) return
    if (value > WINDOW_MAX) throw new ConnectionError(CODE.flowControl, 'the window is too large')
    const more = value - this.initialSendWindow
    this.initialSendWindow = value
    for (const stream of this.streams.values()) {
      stream.sendWindow += more
      if (stream.sendWindow > WINDOW_MAX) throw new ConnectionError(CODE.flowControl, 'the window is too large')
      this.sender.enqueue(stream)
    }
  }

  #onPing(frame: Frame): void {
    const { bytes, start, end } = frame
    if (frame.stream !== 0) throw broken('a ping of a stream')
    if (end - start !== 8) throw wrongSize('a ping')
    if (hasFlag(frame, FLAG.ack)) return this.onPong()
    this.countControl('pings')
    this.sender.ping(bytes, start, { isAnswer: true })
  }

  #onGoaway({ stream, bytes, start, end }: Frame): void {
    if (stream !== 0) throw broken('a goodbye of a stream')
    if (end - start < 8) throw wrongSize('a goodbye')
    this.onGoaway(readUint32(bytes, start + 4), readUint32(bytes, start) & STREAM_ID_MAX)
  }

  /** Priorities, which nobody heeds any more (RFC 9113, 5.3), and what we do not know. */
  #onOther(frame: Frame): void {
    this.countControl('frames that say nothing')
    if (frame.type !== FRAME.priority) return
    if (frame.stream === 0) throw broken('a priority of no stream')
    if (frame.end - frame.start !== PRIORITY_BYTES) throw wrongSize('a priority')
    if (dependsOnItself(frame, frame.start)) throw broken('a stream depends on itself')
  }
}

const hasFlag = ({ flags }: Frame, flag: number): boolean => (flags & flag) !== 0

const PRIORITY_BYTES = 5

const dependsOnItself = ({ bytes, stream }: Frame, at: number): boolean =>
  (readUint32(bytes, at) & STREAM_ID_MAX) === stream

/** Where the content is without its padding. */
function unpadded(frame: Frame): { start: number; end: number } {
  const { bytes, start, end } = frame
  if (!hasFlag(frame, FLAG.padded)) return { start, end }
  if (end === start) throw wrongSize('padding')
  const padding = byte(bytes, start)
  if (padding > end - start - 1) throw broken('more padding than frame')
  return { start: start + 1, end: end - padding }
}

export const broken = (message: string): ConnectionError => new ConnectionError(CODE.protocol, message)
const wrongSize = (what: string): ConnectionError => new ConnectionError(CODE.frameSize, `${what} of a wrong size`)
