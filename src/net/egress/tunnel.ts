/**
 * A TCP connection through the proxy of Konnectivity (apiserver-network-proxy). Its bytes are sent
 * in one gRPC stream, which has its own HTTP/2 connection to the proxy. For other code, it behaves
 * like a Node.js socket. The flow control window of the HTTP/2 stream limits how much unread data
 * the proxy can send. A write completes when the proxy has accepted its data.
 */
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { MessageFrames } from '../grpc/codec/frames.ts'
import { hasStatus, isHttpOk, notGrpc, statusFailure } from '../grpc/status.ts'
import { ClientConnection } from '../http2/client-connection.ts'
import type { ClientStream } from '../http2/client-stream.ts'
import type { HeaderField } from '../http2/field.ts'
import { HeaderMemory } from '../http2/header-memory.ts'
import { HpackEncoder } from '../http2/hpack-encoder.ts'
import { Turn } from '../http2/turn.ts'
import { CODE } from '../http2/protocol.ts'
import { Blocks } from '../../lib/bytes/blocks.ts'
import { dialAborted, DialError } from '../../lib/net/dial-error.ts'
import type { DialerMetrics, DialFailureReason, TunnelStatus } from './metrics.ts'
import {
  closeDial,
  closeRequest,
  dataPacket,
  dialRequest,
  type Packet,
  readPacket,
} from './packets.ts'

/**
 * Size of the flow control window, which is the maximum amount of unread data. It is enough for a
 * watch of etcd, and limits the memory that a stalled reader uses.
 */
const WINDOW_BYTES = 1 << 20
/** gRPC's default limit for the length of a message. The proxy uses the same limit. */
const MESSAGE_BYTES_MAX = 4 << 20
/**
 * Maximum number of payload bytes in one packet. Large writes are split, so that they do not fill
 * the proxy's queues.
 */
const PACKET_BYTES = 32 << 10
const HEADER_LIMITS = { headerBytesMax: 64 << 10, headersMax: 200 }
/**
 * Time within which the proxy must end a tunnel that this side has closed, as in konnectivity's
 * client.
 */
const CLOSE_MS_MAX = 10_000
/** Time limit for the proxy to open a tunnel, as in konnectivity's client. */
const DIAL_MS_MAX = 30_000

const HEADERS = [
  ...[
    ':method',
    'POST',
    ':scheme',
    'http',
    ':authority',
    'localhost',
    ':path',
    '/ProxyService/Proxy',
  ],
  ...['te', 'trailers', 'content-type', 'application/grpc'],
] as const

export class Tunnel extends Duplex {
  readonly #socket: Socket
  readonly #metrics: DialerMetrics
  readonly #connection: ClientConnection
  readonly #frames = new MessageFrames(
    (message) => this.#receive(readPacket(message)),
    MESSAGE_BYTES_MAX,
  )
  readonly #settings = Promise.withResolvers<void>()
  readonly #dialed = Promise.withResolvers<void>()
  #stream: ClientStream | undefined
  /** Random number that identifies the dial. It has 63 bits, as the protocol requires. */
  readonly #random = randomBytes(8).readBigUInt64BE() >> 1n
  #connectId: bigint | undefined
  #status: TunnelStatus | undefined
  /** Whether the remote end is closed: the proxy has reported this, or the stream has ended. */
  #isRemoteClosed = false
  /** The error because of which the stream ended. */
  #failure: Error | undefined
  #closing: NodeJS.Timeout | undefined
  #isLeaving = false
  #idleMs = 0
  #idle: NodeJS.Timeout | undefined

  /** `socket` is an open connection to the proxy. */
  constructor(socket: Socket, metrics: DialerMetrics) {
    super({ allowHalfOpen: false })
    this.#socket = socket
    this.#metrics = metrics
    // Prevents unhandled rejections if no caller awaits these promises. The reader of the tunnel
    // gets the errors as events.
    this.#settings.promise.catch(() => undefined)
    this.#dialed.promise.catch(() => undefined)
    this.#move('created')
    socket.on('error', (error) => {
      this.#failure ??= error
    })
    socket.on('close', () => this.#onLost())
    // An error event without a listener would end the process. The tunnel may have no other
    // listener yet, and a TLS socket on top of it does not listen.
    this.on('error', () => undefined)
    this.#connection = new ClientConnection({
      socket,
      owner: {
        onSettings: () => this.#settings.resolve(),
        onPong: () => undefined,
        onGoaway: () => {
          this.#isLeaving = true
        },
        onFault: (error) => {
          this.#failure ??= error
        },
      },
      limits: HEADER_LIMITS,
      streamWindow: WINDOW_BYTES,
      connectionWindow: WINDOW_BYTES,
      encoder: new HpackEncoder(),
      blocks: new Blocks(),
      turn: new Turn(),
      headerMemory: new HeaderMemory(),
    })
  }

  /**
   * Resolves when the proxy has sent SETTINGS. An open connection is not enough, because the kernel
   * accepts connections even for a stopped process.
   */
  get ready(): Promise<void> {
    return this.#settings.promise
  }

  /** Whether the proxy accepts no more streams on this connection. */
  get isLeaving(): boolean {
    return this.#isLeaving
  }

  /**
   * Opens the tunnel. Must be called once, after `ready` has resolved. Rejects with the proxy's
   * error, and the tunnel is then closed.
   */
  async dial(address: string, signal: AbortSignal): Promise<void> {
    const fail = (why: string, reason: DialFailureReason): void => {
      this.#send(closeDial(this.#random), 'DIAL_CLS')
      this.#failDial(new DialError(why), reason)
    }
    const timer = setTimeout(() => fail('dial timeout, backstop', 'timeout'), DIAL_MS_MAX)
    const onAbort = (): void => {
      this.#send(closeDial(this.#random), 'DIAL_CLS')
      this.#failDial(dialAborted(), 'context')
    }
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      this.#move('dialing')
      this.#stream = this.#connection.request(HEADERS, {
        onHead: (fields) => this.#onHead(fields),
        onData: (chunk) => this.#onData(chunk),
        onTrailers: (fields) => this.#onTrailers(fields),
        onClose: () => this.#onLost(),
      })
      this.#send(dialRequest(address, this.#random), 'DIAL_REQ')
      if (signal.aborted) onAbort()
      await this.#dialed.promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }

  override _read(): void {
    this.#stream?.resume()
  }

  override _write(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    this.#touch()
    if (this.#isRemoteClosed || this.#stream === undefined || this.#connectId === undefined) {
      return done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    }
    const frames: Buffer[] = []
    for (let at = 0; at < chunk.length; at += PACKET_BYTES) {
      frames.push(dataPacket(this.#connectId, chunk.subarray(at, at + PACKET_BYTES)))
      this.#metrics.packet('DATA', 'from_client')
    }
    if (this.#stream.write(frames, done)) done()
  }

  /**
   * Sends a CLOSE_REQ packet when this side has no more data. The protocol can only close both
   * directions at once. The packet follows the data in the stream, because the proxy drops data
   * that it has not read yet when a stream is reset.
   */
  override _final(done: (error?: Error | null) => void): void {
    if (this.#connectId === undefined || !this.#isOpen) return done()
    // If the proxy stops accepting data, the connection is closed.
    const late = setTimeout(() => this.#socket.destroy(), CLOSE_MS_MAX).unref()
    const onTaken = (): void => {
      clearTimeout(late)
      this.#release()
      done()
    }
    this.#metrics.packet('CLOSE_REQ', 'from_client')
    if (this.#stream?.write([closeRequest(this.#connectId)], onTaken) !== false) onTaken()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#idle)
    this.#close()
    // Resume the stream, so that it discards the data that the reader has not read.
    this.#stream?.resume()
    this.#failDial(error ?? new DialError('tunnel closed'), 'tunnelclosed')
    done(error)
  }

  /** Node's HTTP client calls this method and the following ones on a socket. */
  setTimeout(ms: number, onTimeout?: () => void): this {
    this.#idleMs = ms
    if (onTimeout !== undefined) this.once('timeout', onTimeout)
    this.#touch()
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    this.#socket.ref()
    return this
  }

  unref(): this {
    this.#socket.unref()
    return this
  }

  #touch(): void {
    clearTimeout(this.#idle)
    if (this.#idleMs > 0 && !this.destroyed) {
      this.#idle = setTimeout(() => this.emit('timeout'), this.#idleMs).unref()
    }
  }

  #send(frame: Buffer, type: 'DIAL_REQ' | 'DIAL_CLS' | 'CLOSE_REQ'): void {
    // While an earlier write waits for the proxy, do not send a packet: a stream has only one write
    // at a time. The proxy then closes the tunnel because the stream ends.
    if (this.#stream === undefined || this.#stream.isClosed || this.#stream.leftBytes > 0) return
    this.#metrics.packet(type, 'from_client')
    this.#stream.write([frame], () => undefined)
  }

  #onHead(fields: readonly HeaderField[]): void {
    if (hasStatus(fields)) this.#onTrailers(fields)
    else if (!isHttpOk(fields)) this.#fail(notGrpc(fields, 'the proxy'))
  }

  #onTrailers(fields: readonly HeaderField[]): void {
    this.#failure ??= statusFailure(fields, 'the proxy')
  }

  #onData(chunk: Buffer): void {
    this.#touch()
    try {
      this.#frames.push(chunk)
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #receive({ type, error, connectId, random, data }: Packet): void {
    if (type !== undefined) this.#metrics.packet(type, 'to_client')
    if (type === 'DATA') {
      if (
        connectId !== this.#connectId ||
        this.destroyed ||
        this.readableEnded ||
        this.#isRemoteClosed
      )
        return
      // Copies the data, because the connection reuses its memory.
      if (data.length > 0 && !this.push(Buffer.from(data))) this.#stream?.pause()
    } else if (type === 'DIAL_RSP' && random === this.#random) {
      if (error !== '') return this.#failDial(new DialError(error), 'endpoint')
      if (this.#status !== 'dialing') return
      this.#connectId = connectId
      this.#move('ok')
      this.#dialed.resolve()
    } else if (type === 'DIAL_CLS' && random === this.#random)
      this.#failDial(new DialError('dial closed'), 'dialclosed')
    else if (type === 'CLOSE_RSP' && connectId === this.#connectId) this.#end()
  }

  /** Called when the far end has closed. The data received so far can still be read. */
  #end(): void {
    if (this.#isRemoteClosed) return
    this.#isRemoteClosed = true
    this.#release()
    if (!this.destroyed) this.push(null)
  }

  /** Called when the stream or the connection to the proxy has ended, cleanly or not. */
  #onLost(): void {
    const error = this.#failure ?? new DialError('tunnel closed')
    this.#settings.reject(error)
    clearTimeout(this.#closing)
    this.#failDial(error, 'tunnelclosed')
    if (this.#isRemoteClosed) return this.#move(undefined)
    this.#isRemoteClosed = true
    this.#release()
    this.#move(undefined)
    if (this.destroyed) return
    // Some of the sent data might not have arrived. So report the same error as for a connection
    // that the peer has reset.
    this.destroy(
      Object.assign(new Error('socket hang up', { cause: this.#failure }), { code: 'ECONNRESET' }),
    )
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#stream?.cancel(CODE.CANCEL)
    this.#onLost()
  }

  #failDial(error: Error, reason: DialFailureReason): void {
    if (this.#connectId !== undefined || this.#status === 'closing' || this.#status === undefined)
      return
    if (this.#status === 'dialing') this.#metrics.tunnelFailed(reason)
    this.#settings.reject(error)
    this.#dialed.reject(error)
    this.#release()
    this.destroy()
  }

  get #isOpen(): boolean {
    return !this.#isRemoteClosed && this.#status === 'ok'
  }

  /** Sends CLOSE_REQ, so that the proxy closes the tunnel. */
  #close(): void {
    if (this.#connectId === undefined || !this.#isOpen) return
    this.#send(closeRequest(this.#connectId), 'CLOSE_REQ')
    this.#release()
  }

  /**
   * Starts to close the tunnel. When the proxy has ended the stream, this side closes the
   * connection. If the proxy does not do this in time, the connection is destroyed.
   */
  #release(): void {
    if (this.#status === 'closing' || this.#status === undefined) return
    this.#move('closing')
    if (this.#stream === undefined) this.#socket.destroy()
    else if (this.#stream.leftBytes > 0) this.#stream.cancel(CODE.CANCEL)
    else this.#stream.end()
    this.#connection.close()
    this.#closing = setTimeout(() => this.#socket.destroy(), CLOSE_MS_MAX).unref()
  }

  #move(to: TunnelStatus | undefined): void {
    if (this.#status === to) return
    this.#metrics.tunnelMoved(this.#status, to)
    this.#status = to
  }
}
