/**
 * The server side of an HTTP/2 connection, on which each stream carries a request and its response.
 * If the client violates the protocol, the stream or the connection ends. Some valid frames are
 * harmful in large numbers. The owner of the connection limits their number.
 */
import {
  Http2Connection,
  type Http2ConnectionOptions,
  type FieldBlock,
  protocolError,
} from './connection.ts'
import type { HeaderField } from './field.ts'
import { LARGE_HEADER_BYTES } from './header-memory.ts'
import type { HeaderLimits } from './hpack-decoder.ts'
import { CODE, type Code, ConnectionError, FRAME, SETTING } from './protocol.ts'
import { areFieldsValid, HeadReader } from './request-head.ts'
import { ServerStream, type StreamOwner } from './server-stream.ts'

/**
 * Receive window of a stream. All streams of a connection together buffer at most 64 MB of unread
 * bodies.
 */
const STREAM_WINDOW = 256 * 1024
/** Receive window of the connection, as in Go's server. */
const CONNECTION_WINDOW = 1024 * 1024
/**
 * Maximum number of reset streams whose IDs the server remembers. Frames that the client sent
 * before it received the reset are not an error.
 */
const DROPPED_MAX = 1000

export type ServerLimits = HeaderLimits & { readonly streamsMax: number }

export interface ConnectionOwner {
  /** Called for each new request. The owner must set `onClose` of the stream. */
  readonly onRequest: (stream: ServerStream) => void
  /**
   * Called when a stream is reset (`mayReset`), or when a frame arrives that costs the client
   * almost nothing (`mayControl`). If the client exceeds its limit, they return false.
   */
  readonly mayReset: () => boolean
  readonly mayControl: () => boolean
  /** Called when the connection is closed because the client violated the protocol. */
  readonly onFault: (error: ConnectionError) => void
}

export type ServerConnectionOptions = Http2ConnectionOptions & {
  readonly limits: ServerLimits
  readonly owner: ConnectionOwner
  /**
   * Returns whether repeated fields with this header name stay separate instead of being joined.
   */
  readonly isKeptApart: (name: string) => boolean
}

export class ServerConnection extends Http2Connection<ServerStream> implements StreamOwner {
  protected lastId = 0
  readonly #streamsMax: number
  readonly #owner: ConnectionOwner
  readonly #heads: HeadReader
  /**
   * The streams that the current chunk has opened. The owner receives them when the whole chunk has
   * been read. By then, most of their bodies are complete, and streams that the client reset at
   * once are dropped.
   */
  #begun: ServerStream[] = []
  readonly #dropped = new Set<number>()

  constructor({ owner, limits, isKeptApart, ...parts }: ServerConnectionOptions) {
    super(
      { ...parts, limits },
      {
        isServer: true,
        window: CONNECTION_WINDOW,
        settings: [
          [SETTING.MAX_CONCURRENT_STREAMS, limits.streamsMax],
          [SETTING.INITIAL_WINDOW_SIZE, STREAM_WINDOW],
          [SETTING.MAX_HEADER_LIST_SIZE, limits.headerBytesMax],
        ],
      },
    )
    this.#owner = owner
    this.#heads = new HeadReader(isKeptApart)
    this.#streamsMax = limits.streamsMax
  }

  /**
   * Accepts no more requests, and closes the connection when all current requests have their
   * responses.
   */
  close(): void {
    if (this.isClosing) return
    this.isClosing = true
    this.sender.goaway(this.lastId, CODE.NO_ERROR)
    if (this.streams.size === 0) this.end()
  }

  giveHeaderMemory(bytes: number): void {
    this.headerMemory.give(bytes)
  }

  reset(stream: ServerStream, code: Code): void {
    this.#sendReset(stream.id, code, stream.isRemoteEnded)
    this.#remove(stream)
  }

  returnWindow(stream: ServerStream, bytes: number): void {
    this.updateWindow(stream, bytes, STREAM_WINDOW)
  }

  protected override onRead(): void {
    const begun = this.#begun
    if (begun.length === 0) return
    this.#begun = []
    for (const stream of begun) if (!stream.isClosed) this.#owner.onRequest(stream)
  }

  protected onFields(id: number, isEnd: boolean, { fields, bytes }: FieldBlock): void {
    const known = this.streams.get(id)
    if (known !== undefined) return this.#onTrailers(known, isEnd, fields)
    // Ignore the trailers of a stream that the server has reset. They count as a control frame, so
    // that a client cannot send them without limit.
    if (this.#dropped.has(id)) return this.countControl('HEADERS')
    if (id % 2 === 0 || id < this.lastId)
      throw protocolError('a stream identifier is even, or lower than an earlier one')
    if (id === this.lastId)
      throw new ConnectionError(CODE.STREAM_CLOSED, 'HEADERS on a closed stream')
    // After GOAWAY, new streams are ignored. The client retries them on another connection.
    if (this.isClosing) return this.countControl('HEADERS')
    this.lastId = id
    if (this.streams.size >= this.#streamsMax) return this.#refuse(id, CODE.REFUSED_STREAM, isEnd)
    if (bytes === -1) return this.#refuse(id, CODE.ENHANCE_YOUR_CALM, isEnd)
    const head = this.#heads.read(fields, bytes)
    if (head === undefined) return this.#refuse(id, CODE.PROTOCOL_ERROR, isEnd)
    if (isEnd && head.contentLength > 0) return this.#refuse(id, CODE.PROTOCOL_ERROR, isEnd)
    const heldBytes = bytes > LARGE_HEADER_BYTES ? bytes : 0
    if (heldBytes > 0 && !this.headerMemory.take(heldBytes))
      return this.#refuse(id, CODE.ENHANCE_YOUR_CALM, isEnd)
    const windows = { sendWindow: this.initialSendWindow, receiveWindow: STREAM_WINDOW }
    const parts = { owner: this, sender: this.sender, id, head, heldBytes }
    const stream = new ServerStream({ ...parts, isEnded: isEnd, ...windows })
    this.streams.add(stream)
    this.#begun.push(stream)
  }

  #onTrailers(stream: ServerStream, isEnd: boolean, fields: readonly HeaderField[]): void {
    if (stream.isRemoteEnded) return this.streamError(stream, CODE.STREAM_CLOSED)
    if (!isEnd || !areFieldsValid(fields)) return this.streamError(stream, CODE.PROTOCOL_ERROR)
    this.#endRemote(stream)
  }

  protected onBody(stream: ServerStream, chunk: Buffer, isEnd: boolean): void {
    stream.receivedBytes += chunk.length
    const { contentLength } = stream
    if (contentLength !== -1 && stream.receivedBytes > contentLength)
      return this.streamError(stream, CODE.PROTOCOL_ERROR)
    if (chunk.length > 0) stream.receive(chunk)
    if (isEnd) this.#endRemote(stream)
  }

  #endRemote(stream: ServerStream): void {
    const { contentLength } = stream
    if (contentLength !== -1 && contentLength !== stream.receivedBytes)
      return this.streamError(stream, CODE.PROTOCOL_ERROR)
    stream.endRemote()
  }

  protected onIdleOrClosed(id: number, type: number): void {
    if (id > this.lastId) {
      if (!this.isClosing) throw protocolError('a frame on an idle stream')
    } else if (type === FRAME.RST_STREAM) this.countControl('RST_STREAM')
    else if (type === FRAME.DATA && !this.#dropped.has(id)) {
      throw new ConnectionError(CODE.STREAM_CLOSED, 'DATA on a closed stream')
    }
  }

  protected onReset(stream: ServerStream): void {
    this.#remove(stream)
    this.#countReset()
  }

  protected onGoaway(): void {
    // Nothing to do here. The client closes the connection when all of its responses have arrived.
  }

  protected onFault(error: ConnectionError): void {
    this.#owner.onFault(error)
  }

  protected override countControl(what: string): void {
    if (!this.#owner.mayControl())
      throw new ConnectionError(CODE.ENHANCE_YOUR_CALM, `too many ${what} frames`)
  }

  #countReset(): void {
    if (!this.#owner.mayReset())
      throw new ConnectionError(CODE.ENHANCE_YOUR_CALM, 'too many streams were reset')
  }

  /**
   * A stream error counts as a reset by the client, because it also costs the client almost nothing
   * (CVE-2025-8671).
   */
  protected streamError(stream: ServerStream, code: Code): void {
    this.reset(stream, code)
    this.#countReset()
  }

  #refuse(id: number, code: Code, isEnded: boolean): void {
    this.#sendReset(id, code, isEnded)
    this.#countReset()
  }

  #sendReset(id: number, code: Code, isRemoteEnded: boolean): void {
    this.sender.reset(id, code)
    if (isRemoteEnded) return
    this.#dropped.add(id)
    if (this.#dropped.size <= DROPPED_MAX) return
    for (const oldest of this.#dropped) return void this.#dropped.delete(oldest)
  }

  /**
   * Called when the response is sent. If the client is still sending the body, RST_STREAM with
   * NO_ERROR makes it stop.
   */
  onSent(id: number): void {
    const stream = this.streams.get(id)
    if (stream === undefined) return
    if (!stream.isRemoteEnded) this.#sendReset(id, CODE.NO_ERROR, false)
    this.#remove(stream)
  }

  #remove(stream: ServerStream): void {
    this.streams.delete(stream.id)
    stream.close()
    if (this.isClosing && this.streams.size === 0) this.end()
  }
}
