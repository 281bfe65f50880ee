/**
 * The server's side of a connection (RFC 9113): frames in, streams, frames out. Whatever breaks the protocol ends the stream or
 * the connection here; the owner decides how much of what is allowed is too much.
 */
import type { TLSSocket } from 'node:tls'
import type { Field } from './field.ts'
import { type Frame, FrameReader } from './frame-reader.ts'
import { type HeaderLimits, HpackDecoder } from './hpack-decoder.ts'
import type { HpackEncoder } from './hpack-encoder.ts'
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
import { areTrailersSound, HeadReader } from './request-head.ts'
import { Sender, type SenderParts } from './sender.ts'
import { ServerStream, type StreamOwner } from './server-stream.ts'

/** Of one body, this much may be on its way; all streams of a connection together hold as much memory as 64 MB. */
const STREAM_WINDOW = 256 * 1024
/** Given back as it comes, so that a body nobody reads does not stop the others. As Go's server. */
const CONNECTION_WINDOW = 1024 * 1024
/** Headers of a megabyte are 64 frames; more are a flood of small ones. */
const CONTINUATIONS_MAX = 256
/** Streams that we ended while their client went on sending: its frames may still come, and are no mistake of its. */
const DROPPED_MAX = 1000
/** After its last word, a connection has this long to go by itself. */
const LINGER_MS = 1000

export type ConnectionLimits = HeaderLimits & { readonly streamsMax: number }

export interface ConnectionOwner {
  /** A request has come. It sets the stream's `onClose`. */
  readonly onRequest: (stream: ServerStream) => void
  /** Asked at each stream that came to nothing, and at each frame that costs its sender nothing. False: enough of that. */
  readonly mayReset: () => boolean
  readonly mayControl: () => boolean
  /** The connection ends for what its client did. */
  readonly onFault: (error: ConnectionError) => void
}

export type ConnectionParts = Omit<SenderParts, 'onFinished'> & {
  readonly limits: ConnectionLimits
  readonly owner: ConnectionOwner
}

type HeaderBlock = { readonly stream: number; readonly isEnd: boolean; readonly parts: Buffer[]; bytes: number }

export class ServerConnection implements StreamOwner {
  readonly #socket: TLSSocket
  readonly #limits: ConnectionLimits
  readonly #owner: ConnectionOwner
  readonly #sender: Sender
  readonly #reader: FrameReader
  readonly #decoder = new HpackDecoder()
  readonly #heads = new HeadReader()
  readonly #fields: Field[] = []
  readonly #streams = new Map<number, ServerStream>()
  /** Come in this chunk, not yet told: some are given up in the same breath, and most bodies come along. */
  #begun: ServerStream[] = []
  readonly #dropped = new Set<number>()
  #lastId = 0
  #hasSettings = false
  #headerBlock: HeaderBlock | undefined
  #initialSendWindow = DEFAULT_WINDOW
  #receiveWindow = CONNECTION_WINDOW
  #isClosing = false
  #isOver = false

  constructor({ socket, limits, owner, ...shared }: ConnectionParts) {
    this.#socket = socket
    this.#limits = limits
    this.#owner = owner
    this.#sender = new Sender({ ...shared, socket, onFinished: this.#finish })
    this.#reader = new FrameReader(this.#onFrame)
    this.#sender.settings([
      [SETTING.streamsMax, limits.streamsMax],
      [SETTING.initialWindow, STREAM_WINDOW],
      [SETTING.headerListMax, limits.headerBytesMax],
    ])
    this.#sender.windowUpdate(0, CONNECTION_WINDOW - DEFAULT_WINDOW)
    socket.on('data', this.#onChunk)
    socket.on('close', () => this.#abandon())
  }

  /** Bytes that the client has not taken yet, and how often it took some. */
  get waitingBytes(): number {
    return this.#sender.waitingBytes
  }

  get writes(): number {
    return this.#sender.writes
  }

  /** Takes no more requests, and ends when those under way are answered. */
  close(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#sender.goaway(this.#lastId, CODE.none)
    this.#endIfDone()
  }

  /** Tells the client why, and ends. */
  fail(error: ConnectionError): void {
    if (this.#isOver) return
    this.#sender.goaway(this.#lastId, error.code)
    this.#owner.onFault(error)
    this.#abandon()
    this.#end()
  }

  beginHead(status: number): HpackEncoder {
    return this.#sender.beginHead(status)
  }

  sendHead(stream: ServerStream, isEnd: boolean): void {
    this.#sender.sendHead(stream, isEnd)
  }

  send(stream: ServerStream): void {
    this.#sender.send(stream)
  }

  reset(stream: ServerStream, code: Code): void {
    this.#sendReset(stream.id, code, stream.isRemoteEnded)
    this.#remove(stream, true)
  }

  returnWindow(stream: ServerStream, bytes: number): void {
    if (stream.isRemoteEnded || stream.isClosed) return
    stream.returnedBytes += bytes
    if (stream.returnedBytes < STREAM_WINDOW / 2) return
    this.#sender.windowUpdate(stream.id, stream.returnedBytes)
    stream.receiveWindow += stream.returnedBytes
    stream.returnedBytes = 0
  }

  readonly #onChunk = (chunk: Buffer): void => {
    if (this.#isOver) return
    try {
      this.#reader.read(chunk)
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      return this.fail(error)
    }
    const begun = this.#begun
    if (begun.length > 0) {
      this.#begun = []
      for (const stream of begun) if (!stream.isClosed) this.#owner.onRequest(stream)
    }
    this.#sender.pauseIfDeaf()
  }

  readonly #onFrame = (frame: Frame): void => {
    if (this.#isOver) return
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
    else if (type === FRAME.pushPromise) throw broken('a client cannot push')
    else this.#onOther(frame)
  }

  #onHeaders(frame: Frame): void {
    const { stream, bytes } = frame
    if (stream === 0) throw broken('headers of no stream')
    const { start, end } = unpadded(frame)
    const priorityBytes = hasFlag(frame, FLAG.priority) ? PRIORITY_BYTES : 0
    if (end - start < priorityBytes) throw wrongSize('headers')
    if (priorityBytes > 0 && dependsOnItself(bytes, start, stream)) throw broken('a stream depends on itself')
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
    if (begun.bytes > this.#limits.headerBytesMax || begun.parts.length > CONTINUATIONS_MAX) {
      throw new ConnectionError(CODE.calm, 'headers do not come to an end')
    }
    if (!hasFlag(frame, FLAG.endHeaders)) return
    this.#headerBlock = undefined
    this.#onBlock(begun.stream, begun.isEnd, Buffer.concat(begun.parts))
  }

  #onBlock(id: number, isEnd: boolean, block: Buffer): void {
    const fields = this.#fields
    fields.length = 0
    const isWithin = this.#decoder.decode(block, fields, this.#limits)
    const known = this.#streams.get(id)
    if (known !== undefined) return this.#onTrailers(known, isEnd)
    if (this.#dropped.has(id)) return
    if (id % 2 === 0 || id < this.#lastId) throw broken('a stream has a number that it cannot have')
    if (id === this.#lastId) throw new ConnectionError(CODE.streamClosed, 'headers of a stream that is over')
    // After our goodbye nothing new is begun: the client asks elsewhere.
    if (this.#isClosing) return
    this.#lastId = id
    if (this.#streams.size >= this.#limits.streamsMax) return this.#refuse(id, CODE.refused, isEnd)
    const head = isWithin ? this.#heads.read(fields) : undefined
    if (head === undefined) return this.#refuse(id, isWithin ? CODE.protocol : CODE.calm, isEnd)
    if (isEnd && head.contentLength > 0) return this.#refuse(id, CODE.protocol, isEnd)
    const windows = { sendWindow: this.#initialSendWindow, receiveWindow: STREAM_WINDOW }
    const stream = new ServerStream(this, { id, head, isEnded: isEnd, ...windows })
    this.#streams.set(id, stream)
    this.#begun.push(stream)
  }

  #onTrailers(stream: ServerStream, isEnd: boolean): void {
    if (stream.isRemoteEnded) return this.#offend(stream, CODE.streamClosed)
    if (!isEnd || !areTrailersSound(this.#fields)) return this.#offend(stream, CODE.protocol)
    this.#endRemote(stream)
  }

  #onData(frame: Frame): void {
    const { stream: id, bytes } = frame
    if (id === 0) throw broken('a body of no stream')
    // Padding counts as well.
    const size = frame.end - frame.start
    this.#takeWindow(size)
    const { start, end } = unpadded(frame)
    const stream = this.#streams.get(id)
    if (stream === undefined) return this.#onLateData(id)
    if (stream.isRemoteEnded) return this.#offend(stream, CODE.streamClosed)
    stream.receiveWindow -= size
    if (stream.receiveWindow < 0) return this.#offend(stream, CODE.flowControl)
    const isEnd = hasFlag(frame, FLAG.endStream)
    stream.receivedBytes += end - start
    const { contentLength } = stream.head
    if (contentLength !== -1 && stream.receivedBytes > contentLength) return this.#offend(stream, CODE.protocol)
    if (end > start) stream.receive(bytes.subarray(start, end))
    else if (!isEnd) this.#countControl('empty frames')
    if (size > end - start) this.returnWindow(stream, size - (end - start))
    if (isEnd) this.#endRemote(stream)
  }

  #onLateData(id: number): void {
    if (id > this.#lastId && !this.#isClosing) throw broken('a body of a stream that has not begun')
    if (id <= this.#lastId && !this.#dropped.has(id)) {
      throw new ConnectionError(CODE.streamClosed, 'a body of a stream that is over')
    }
  }

  #takeWindow(bytes: number): void {
    this.#receiveWindow -= bytes
    if (this.#receiveWindow < 0) throw new ConnectionError(CODE.flowControl, 'more was sent than allowed')
    if (this.#receiveWindow > CONNECTION_WINDOW / 2) return
    this.#sender.windowUpdate(0, CONNECTION_WINDOW - this.#receiveWindow)
    this.#receiveWindow = CONNECTION_WINDOW
  }

  #endRemote(stream: ServerStream): void {
    const { contentLength } = stream.head
    if (contentLength !== -1 && contentLength !== stream.receivedBytes) return this.#offend(stream, CODE.protocol)
    stream.endRemote()
  }

  #onWindowUpdate({ stream: id, bytes, start, end }: Frame): void {
    if (end - start !== 4) throw wrongSize('a window update')
    const more = readUint32(bytes, start) & WINDOW_MAX
    if (id === 0) {
      if (more === 0) throw broken('a window update of nothing')
      return this.#sender.openWindow(more)
    }
    const stream = this.#streams.get(id)
    if (stream === undefined) return this.#checkBegun(id)
    if (more === 0) return this.#offend(stream, CODE.protocol)
    stream.sendWindow += more
    if (stream.sendWindow > WINDOW_MAX) this.#offend(stream, CODE.flowControl)
    else this.#sender.enqueue(stream)
  }

  #onReset({ stream: id, start, end }: Frame): void {
    if (id === 0) throw broken('the end of no stream')
    if (end - start !== 4) throw wrongSize('the end of a stream')
    const stream = this.#streams.get(id)
    if (stream === undefined) {
      this.#checkBegun(id)
      return this.#countControl('ends of streams that are over')
    }
    this.#remove(stream, true)
    this.#countReset()
  }

  #checkBegun(id: number): void {
    if (id > this.#lastId && !this.#isClosing) throw broken('a stream that has not begun')
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
    this.#countControl('settings')
    this.#sender.acknowledgeSettings()
  }

  /** The others are about what we never do. */
  #onSetting(id: number, value: number): void {
    if (id === SETTING.enablePush && value > 1) throw broken('a setting has a value that it cannot have')
    if (id === SETTING.frameBytesMax && (value < FRAME_BYTES_MAX || value > 0xffffff))
      throw broken('a wrong frame size')
    if (id !== SETTING.initialWindow) return
    if (value > WINDOW_MAX) throw new ConnectionError(CODE.flowControl, 'the window is too large')
    const more = value - this.#initialSendWindow
    this.#initialSendWindow = value
    for (const stream of this.#streams.values()) {
      stream.sendWindow += more
      if (stream.sendWindow > WINDOW_MAX) throw new ConnectionError(CODE.flowControl, 'the window is too large')
      this.#sender.enqueue(stream)
    }
  }

  #onPing(frame: Frame): void {
    const { bytes, start, end } = frame
    if (frame.stream !== 0) throw broken('a ping of a stream')
    if (end - start !== 8) throw wrongSize('a ping')
    if (hasFlag(frame, FLAG.ack)) return
    this.#countControl('pings')
    this.#sender.answerPing(bytes, start)
  }

  /** The client goes, when it has its answers. */
  #onGoaway({ stream, start, end }: Frame): void {
    if (stream !== 0) throw broken('a goodbye of a stream')
    if (end - start < 8) throw wrongSize('a goodbye')
  }

  /** Priorities, which nobody heeds any more (RFC 9113, 5.3), and what we do not know. */
  #onOther({ type, stream, bytes, start, end }: Frame): void {
    this.#countControl('frames that say nothing')
    if (type !== FRAME.priority) return
    if (stream === 0) throw broken('a priority of no stream')
    if (end - start !== PRIORITY_BYTES) return this.#refuse(stream, CODE.frameSize, true)
    if (dependsOnItself(bytes, start, stream)) this.#refuse(stream, CODE.protocol, true)
  }

  #countControl(what: string): void {
    if (!this.#owner.mayControl()) throw new ConnectionError(CODE.calm, `too many ${what}`)
  }

  #countReset(): void {
    if (!this.#owner.mayReset()) throw new ConnectionError(CODE.calm, 'too many requests that were given up')
  }

  /** A stream of which its client has broken the rules. It counts as given up: making us reset costs no more than a reset. */
  #offend(stream: ServerStream, code: Code): void {
    this.reset(stream, code)
    this.#countReset()
  }

  #refuse(id: number, code: Code, isEnded: boolean): void {
    const stream = this.#streams.get(id)
    if (stream !== undefined) return this.#offend(stream, code)
    this.#sendReset(id, code, isEnded)
    this.#countReset()
  }

  #sendReset(id: number, code: Code, isRemoteEnded: boolean): void {
    this.#sender.reset(id, code)
    if (isRemoteEnded) return
    this.#dropped.add(id)
    if (this.#dropped.size <= DROPPED_MAX) return
    for (const oldest of this.#dropped) return void this.#dropped.delete(oldest)
  }

  /** The answer is out. A client that is still sending its body need not go on. */
  readonly #finish = (stream: ServerStream): void => {
    if (!stream.isRemoteEnded) this.#sendReset(stream.id, CODE.none, false)
    this.#remove(stream, false)
  }

  #remove(stream: ServerStream, isAborted: boolean): void {
    this.#streams.delete(stream.id)
    stream.close(isAborted)
    this.#endIfDone()
  }

  #endIfDone(): void {
    if (this.#isClosing && this.#streams.size === 0) this.#end()
  }

  #end(): void {
    this.#sender.end()
    setTimeout(() => this.#socket.destroy(), LINGER_MS).unref()
  }

  #abandon(): void {
    this.#isOver = true
    const streams = [...this.#streams.values()]
    this.#streams.clear()
    for (const stream of streams) stream.close(true)
  }
}

const hasFlag = ({ flags }: Frame, flag: number): boolean => (flags & flag) !== 0

const PRIORITY_BYTES = 5

const dependsOnItself = (bytes: Buffer, at: number, stream: number): boolean =>
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

const broken = (message: string): ConnectionError => new ConnectionError(CODE.protocol, message)
const wrongSize = (what: string): ConnectionError => new ConnectionError(CODE.frameSize, `${what} of a wrong size`)
