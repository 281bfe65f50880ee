/** The client side of an HTTP/2 connection: sends requests and receives responses. */
import { type AnswerListener, ClientStream, type ClientStreamOwner } from './client-stream.ts'
import {
  Http2Connection,
  type Http2ConnectionOptions,
  type FieldBlock,
  protocolError,
} from './connection.ts'
import type { HeaderField } from './field.ts'
import { CODE, type Code, type ConnectionError, SETTING, STREAM_ID_MAX } from './protocol.ts'
import type { Send } from './sending-stream.ts'

export interface ClientOwner {
  /**
   * Called when the peer has sent SETTINGS. The first SETTINGS frame proves that the peer is alive.
   */
  readonly onSettings: (streamsMax: number) => void
  /** Called when the peer has acknowledged a PING. */
  readonly onPong: () => void
  /**
   * Called when the peer has sent GOAWAY. The peer has not processed streams with IDs above
   * `lastId`.
   */
  readonly onGoaway: (code: number, lastId: number) => void
  /** Called when the connection is closed because the peer violated the protocol. */
  readonly onFault: (error: ConnectionError) => void
}

export type ClientConnectionOptions = Http2ConnectionOptions & {
  readonly owner: ClientOwner
  /** Receive windows of a stream and of the connection. */
  readonly streamWindow: number
  readonly connectionWindow: number
  /** First stream ID. It must be odd; the default is 1. */
  readonly firstStreamId?: number | undefined
}

const FIRST_ID = 1
/**
 * Delay before a PING is acknowledged. grpc-go (used by etcd) estimates the bandwidth with PINGs:
 * after each acknowledgment, it sends another PING with the next data that it reads. Without the
 * delay, every call would therefore cost two more packets. The delay is safe, because peers that
 * use PING to detect dead connections wait for seconds.
 */
const PONG_DELAY_MS = 200

export class ClientConnection extends Http2Connection<ClientStream> implements ClientStreamOwner {
  /**
   * Highest ID among the streams that the peer has opened. Always 0, because a server opens no
   * streams.
   */
  protected readonly lastId = 0
  readonly #owner: ClientOwner
  readonly #streamWindow: number
  #nextId: number
  /** The data of a received PING that was not acknowledged yet. */
  #pinged: Buffer | undefined

  constructor({
    owner,
    streamWindow,
    connectionWindow,
    firstStreamId = FIRST_ID,
    ...parts
  }: ClientConnectionOptions) {
    super(parts, {
      isServer: false,
      window: connectionWindow,
      settings: [
        [SETTING.ENABLE_PUSH, 0],
        [SETTING.INITIAL_WINDOW_SIZE, streamWindow],
      ],
    })
    this.#owner = owner
    this.#streamWindow = streamWindow
    this.#nextId = firstStreamId
  }

  /** Whether the connection cannot accept more requests. */
  get isSpent(): boolean {
    return this.isOver || this.isClosing || this.#nextId > STREAM_ID_MAX
  }

  /**
   * Opens a request. Names and values alternate in `headers`. The caller sends the body and ends
   * the stream.
   */
  request(headers: readonly string[], listener: AnswerListener): ClientStream {
    const id = this.#nextId
    this.#nextId += 2
    const windows = { sendWindow: this.initialSendWindow, receiveWindow: this.#streamWindow }
    const stream = new ClientStream(this, { id, listener, ...windows })
    this.streams.add(stream)
    const head = this.sender.beginHead()
    for (let at = 0; at < headers.length; at += 2)
      head.field(headers[at] ?? '', headers[at + 1] ?? '')
    this.sender.sendHead(stream, false)
    return stream
  }

  ping(): void {
    this.sender.ping(Buffer.alloc(8), { isAnswer: false })
  }

  /**
   * Accepts no more requests. Closes the connection when all current requests have received their
   * responses.
   */
  close(): void {
    this.isClosing = true
    if (this.streams.size === 0) this.end()
  }

  get send(): Send {
    return this.sender.send
  }

  cancel(stream: ClientStream, code: Code): void {
    this.sender.reset(stream.id, code)
    this.#remove(stream, code)
  }

  returnWindow(stream: ClientStream, bytes: number): void {
    this.updateWindow(stream, bytes, stream.windowBytes)
  }

  widen(stream: ClientStream, more: number): void {
    stream.receiveWindow += more
    this.sender.windowUpdate(stream.id, more)
  }

  protected onFields(id: number, isEnd: boolean, { fields, bytes }: FieldBlock): void {
    const stream = this.streams.get(id)
    if (stream === undefined) return this.onIdleOrClosed(id)
    if (bytes === -1 || stream.isRemoteEnded) return this.streamError(stream, CODE.PROTOCOL_ERROR)
    if (stream.hasHead) stream.receiveTrailers(fields)
    else if (isInformational(fields)) return
    else stream.receiveHead(fields)
    if (isEnd) this.#endRemote(stream)
  }

  protected onBody(stream: ClientStream, chunk: Buffer, isEnd: boolean): void {
    if (chunk.length > 0) stream.receive(chunk)
    if (isEnd) this.#endRemote(stream)
  }

  /**
   * The peer has sent a complete response, so the rest of the request is not needed. Ends the
   * stream.
   */
  #endRemote(stream: ClientStream): void {
    if (stream.isClosed) return
    stream.isRemoteEnded = true
    if (!stream.isEnding || stream.leftBytes > 0) this.sender.reset(stream.id, CODE.NO_ERROR)
    this.#remove(stream, CODE.NO_ERROR)
  }

  /**
   * Ignores frames on a closed stream, because the peer sent them before it learned that the stream
   * was canceled. Fails for frames on a stream that was never opened.
   */
  protected onIdleOrClosed(id: number): void {
    if (id >= this.#nextId || id % 2 === 0) throw protocolError('a frame on an idle stream')
  }

  protected onReset(stream: ClientStream, code: number): void {
    this.#remove(stream, code)
  }

  protected onGoaway(code: number, lastId: number): void {
    this.#owner.onGoaway(code, lastId)
    // The peer does not process streams above this ID (RFC 9113, 6.8).
    for (const stream of this.streams.all())
      if (stream.id > lastId) this.#remove(stream, CODE.REFUSED_STREAM)
  }

  protected override onSettings(): void {
    this.#owner.onSettings(this.peerStreamsMax)
  }

  protected override onPong(): void {
    this.#owner.onPong()
  }

  /**
   * Acknowledges a PING after a delay. If the next PING arrives before that, the previous one is
   * acknowledged immediately.
   */
  protected override answerPing(data: Buffer): void {
    if (this.#pinged === undefined) setTimeout(() => this.#pong(), PONG_DELAY_MS).unref()
    else super.answerPing(this.#pinged)
    this.#pinged = Buffer.from(data)
  }

  #pong(): void {
    if (this.#pinged !== undefined && !this.isOver) super.answerPing(this.#pinged)
    this.#pinged = undefined
  }

  onSent(): void {
    // Nothing to do here. The stream ends when its response has arrived.
  }

  protected streamError(stream: ClientStream, code: Code): void {
    this.cancel(stream, code)
  }

  protected onFault(error: ConnectionError): void {
    this.#owner.onFault(error)
  }

  #remove(stream: ClientStream, code: number): void {
    this.streams.delete(stream.id)
    stream.close(code)
    if (this.isClosing && this.streams.size === 0) this.end()
  }
}

/** Whether the status is 1xx, which precedes the actual response. */
const isInformational = (fields: readonly HeaderField[]): boolean =>
  fields[0]?.name === ':status' && fields[0].value.startsWith('1')
