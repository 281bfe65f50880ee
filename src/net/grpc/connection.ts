/**
 * One HTTP/2 session to one endpoint: opens it, limits its streams, and detects that it is dead.
 *
 * The session is open only after the peer's SETTINGS have arrived. The kernel accepts connections
 * even for a stopped process, while a SETTINGS frame proves that the process runs. Once the session
 * is open, a silent peer is probed with PING.
 */
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls, type ConnectionOptions as TlsConnectionOptions } from 'node:tls'
import { ClientConnection, type ClientOwner } from '../http2/client-connection.ts'
import type { AnswerListener, ClientStream } from '../http2/client-stream.ts'
import { HeaderMemory } from '../http2/header-memory.ts'
import { HpackEncoder } from '../http2/hpack-encoder.ts'
import { Turn } from '../http2/turn.ts'
import { Blocks } from '../../lib/bytes/blocks.ts'
import type { Dial } from '../../lib/net/dial.ts'
import { secured } from '../../lib/net/dialed-tls.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { HeaderField } from '../http2/field.ts'
import { GrpcError, type StatusError } from './errors.ts'
import { statusFailure } from './status.ts'
import { socketPath, unixScheme } from './unix-socket.ts'
import { loadTls, type TlsMaterial, type TlsOptions } from './tls.ts'

/**
 * Receive window of a stream. The default of 64 KB is too small: a client with a busy watch falls
 * behind.
 */
const STREAM_WINDOW_BYTES = 4 * 1024 * 1024
/**
 * Receive window of a connection. It is several times the window of a stream, so that a list does
 * not delay the watches on the same connection.
 */
const SESSION_WINDOW_BYTES = 16 * 1024 * 1024
/** Limits for the headers of a response. etcd's responses have only a few short headers. */
const HEADER_LIMITS = { headerBytesMax: 1024 * 1024, headersMax: 1000 }
/** Time limit for opening a session, from the first SYN to the peer's SETTINGS. */
const OPEN_TIMEOUT_MS = 3000
/** Time limit for a proxy to connect to the endpoint, as in kube-apiserver. */
const DIAL_TIMEOUT_MS = 20_000
/** Interval between checks for a silent peer. */
const TICK_MS = 500
/** If the peer has been silent for this long while a response is awaited, a PING is sent. */
const QUIET_MS = 2000
/** If a call times out and the peer has been silent for this long, calls prefer other endpoints. */
const SUSPECT_QUIET_MS = 1000
/**
 * etcd closes connections that ping more often than every 5 s (its flag --grpc-keepalive-min-time)
 * or without an open stream. This client does neither.
 */
const PING_INTERVAL_MS = 5500
/** A peer that does not acknowledge a PING within this time is considered dead. */
const PING_TIMEOUT_MS = 3000
/**
 * Maximum number of calls that wait for a free stream. When it is reached, the server is
 * overloaded, and further calls fail immediately.
 */
const WAITING_MAX = 10_000

export type ConnectionOptions = {
  readonly endpoint: string
  readonly tls: TlsOptions | undefined
  /**
   * Opens the connection to the endpoint, for example through a proxy. If undefined, the connection
   * is direct.
   */
  readonly dial?: Dial | undefined
  readonly log: Log
  /**
   * Creates the error of a failed call from the response. By default, the error depends only on the
   * status code.
   */
  readonly statusError?: StatusError | undefined
  /**
   * The ID of the first stream. Tests set it to a high number, because a connection runs out of
   * stream IDs only after about a billion calls and is then replaced.
   */
  readonly firstStreamId?: number | undefined
  /**
   * Called when the peer closes an open connection or stops responding, so that other endpoints are
   * preferred.
   */
  readonly onTrouble: () => void
  /** Called once when the connection is closed, for whatever reason. */
  readonly onClosed: () => void
}

export class GrpcConnection {
  readonly endpoint: string
  /**
   * Resolves when the connection is open. If it cannot be opened, rejects with a GrpcError that
   * says that no request was sent.
   */
  readonly opened: Promise<void>
  /** Set when any stream receives data. The timer below resets it, to detect a silent peer. */
  heard = false

  readonly #log: Log
  readonly #statusError: StatusError | undefined
  readonly #onTrouble: () => void
  readonly #onClosed: () => void
  #session: ClientConnection | undefined
  #socket: Duplex | undefined
  #rejectOpening: () => void = () => undefined
  #state: 'opening' | 'open' | 'draining' | 'closed' = 'opening'
  #failure: Error | undefined
  #lastProcessedId = Number.POSITIVE_INFINITY
  #streams = 0
  #streamsMax = 100
  readonly #waiting: (() => void)[] = []
  readonly #leaveListeners = new Set<(error: GrpcError) => void>()
  #openTimer: NodeJS.Timeout | undefined
  #ticker: NodeJS.Timeout | undefined
  #quietMs = 0
  #sincePingMs = PING_INTERVAL_MS
  #isPinging = false

  constructor(options: ConnectionOptions) {
    this.endpoint = options.endpoint
    this.#log = options.log
    this.#statusError = options.statusError
    this.#onTrouble = options.onTrouble
    this.#onClosed = options.onClosed
    this.opened = this.#open(options)
    // Prevents an unhandled rejection if no caller awaits `opened`.
    this.opened.catch(() => undefined)
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Whether the connection is open or being opened. */
  get isUsable(): boolean {
    return this.#state === 'open' || this.#state === 'opening'
  }

  /**
   * Reserves a stream. Returns false if none is free now. Every reserved stream must be released
   * with `release`.
   */
  tryAcquire(): boolean {
    if (this.#streams >= this.#streamsMax) return false
    this.#streams++
    return true
  }

  /**
   * Waits for a free stream, reserves it, and then calls `onFree`. Returns a function that stops
   * waiting.
   */
  waitForStream(onFree: () => void): () => void {
    if (this.#waiting.length >= WAITING_MAX) {
      throw new GrpcError(
        'ResourceExhausted',
        `${WAITING_MAX} calls already wait for a stream`,
        this,
      )
    }
    this.#waiting.push(onFree)
    return () => {
      const at = this.#waiting.indexOf(onFree)
      if (at >= 0) this.#waiting.splice(at, 1)
    }
  }

  release(): void {
    this.#streams--
    while (this.#waiting.length > 0 && this.#streams < this.#streamsMax) {
      this.#streams++
      this.#waiting.shift()?.()
    }
    if (this.#streams === 0) {
      this.#quietMs = 0
      if (this.#state === 'draining') this.#session?.close()
    }
  }

  /** Opens a stream. If this function throws, nothing was sent. */
  request(headers: readonly string[], listener: AnswerListener): ClientStream {
    const session = this.#session
    if (this.#state !== 'open' || session === undefined || session.isSpent) {
      // The HTTP/2 session can end some time before its socket closes. Use another connection for
      // new calls.
      this.drain()
      throw this.#lost(false)
    }
    const stream = session.request(headers, listener)
    // The last stream ID is used up (RFC 9113, 5.1.1), so the next call needs another connection.
    if (session.isSpent) this.drain()
    return stream
  }

  /** Returns the error in the trailers of a response, if there is one. */
  statusFailure(fields: readonly HeaderField[]): GrpcError | undefined {
    return statusFailure(fields, this.endpoint, this.#statusError)
  }

  /**
   * Returns the error for a stream that ended without a response. The outcome of the call is
   * unknown unless the peer reported that it did not process the stream.
   */
  streamLost({ id }: ClientStream, refused: boolean): GrpcError {
    return this.#lost(!refused && id <= this.#lastProcessedId)
  }

  /**
   * Registers a listener that is called when the server sends GOAWAY. The listener should end its
   * long-lived stream, because the server waits for this stream before it shuts down. Unary calls
   * need no listener: they end soon.
   */
  onLeave(listener: (error: GrpcError) => void): () => void {
    this.#leaveListeners.add(listener)
    return () => this.#leaveListeners.delete(listener)
  }

  /**
   * Call this when a call times out. If the whole connection was silent, the peer has probably
   * stopped. Other endpoints are then preferred, even before a PING confirms this.
   */
  suspect(): void {
    if (this.#quietMs >= SUSPECT_QUIET_MS) this.#onTrouble()
  }

  /** Stops accepting calls, and closes the connection when the running calls have ended. */
  drain(): void {
    if (this.#state !== 'open') return
    this.#state = 'draining'
    if (this.#streams === 0) this.#session?.close()
  }

  /** Closes the connection immediately. Running calls fail. */
  destroy(cause?: Error): void {
    if (cause !== undefined) this.#failure ??= cause
    this.#close()
    this.#socket?.destroy()
  }

  async #open({ tls, dial, firstStreamId }: ConnectionOptions): Promise<void> {
    try {
      const material = this.endpoint.startsWith('https:') ? await loadTls(tls ?? {}) : {}
      if (this.#state === 'closed') throw this.#lost(false)
      if (dial === undefined || this.endpoint.startsWith(unixScheme)) {
        // Add the error listener in the tick that creates the socket. A socket that fails
        // immediately emits `error` before promise callbacks run. Without a listener, the event
        // would end the process.
        await this.#openSession(openSocket(this.endpoint, material), firstStreamId)
      } else {
        const socket = await dialSocket(this.endpoint, material, dial)
        // While the proxy connected, this connection was closed or the tunnel ended. Close the
        // socket.
        if (this.#state !== 'opening' || socket.destroyed) {
          socket.destroy()
          throw new Error(socket.errored?.message ?? 'connection closed')
        }
        await this.#openSession(socket, firstStreamId)
      }
    } catch (cause) {
      this.destroy(cause instanceof Error && !(cause instanceof GrpcError) ? cause : undefined)
      throw this.#lost(false)
    }
  }

  #openSession(socket: Duplex, firstStreamId: number | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket = socket
      this.#rejectOpening = () => reject(this.#lost(false))
      this.#openTimer = setTimeout(() => {
        this.destroy(new Error(`no answer within ${OPEN_TIMEOUT_MS} ms`))
      }, OPEN_TIMEOUT_MS)
      socket.on('error', (error) => {
        this.#failure ??= error
      })
      socket.on('close', () => {
        if (this.#state === 'open') this.#onTrouble()
        this.#close()
      })
      this.#session = new ClientConnection({
        socket,
        owner: this.#ownerOf(resolve),
        limits: HEADER_LIMITS,
        streamWindow: STREAM_WINDOW_BYTES,
        connectionWindow: SESSION_WINDOW_BYTES,
        firstStreamId,
        encoder: new HpackEncoder(),
        blocks: new Blocks(),
        turn: new Turn(),
        headerMemory: new HeaderMemory(),
      })
    })
  }

  #ownerOf(onOpen: () => void): ClientOwner {
    return {
      onSettings: (streamsMax) => {
        this.heard = true
        if (streamsMax !== Number.POSITIVE_INFINITY) this.#streamsMax = streamsMax
        if (this.#state !== 'opening') return
        clearTimeout(this.#openTimer)
        this.#state = 'open'
        this.#ticker = setInterval(() => this.#tick(), TICK_MS)
        this.#ticker.unref()
        onOpen()
      },
      onPong: () => {
        this.#isPinging = false
        this.heard = true
      },
      onGoaway: (code, lastStreamId) => {
        // The peer does not process streams with IDs above this one (RFC 9113, 6.8). A second
        // GOAWAY can lower the ID.
        this.#lastProcessedId = Math.min(this.#lastProcessedId, lastStreamId)
        this.#log('info', 'the server sent GOAWAY; new calls use another connection', {
          endpoint: this.endpoint,
          code,
        })
        if (this.#state !== 'open') return
        this.#state = 'draining'
        this.#onTrouble()
        for (const listener of this.#leaveListeners) listener(this.#lost(true))
        if (this.#streams === 0) this.#session?.close()
      },
      onFault: (error) => {
        this.#failure ??= error
      },
    }
  }

  /** Sends a PING if the peer has been silent for too long while a call waits for a response. */
  #tick(): void {
    this.#sincePingMs += TICK_MS
    if (this.heard || this.#streams === 0) {
      this.heard = false
      this.#quietMs = 0
      return
    }
    this.#quietMs += TICK_MS
    if (this.#isPinging) {
      if (this.#sincePingMs >= PING_TIMEOUT_MS) {
        this.#log('warn', 'the server does not respond; closing the connection', {
          endpoint: this.endpoint,
        })
        this.#onTrouble()
        this.destroy(new Error(`no response for ${this.#quietMs} ms`))
      }
    } else if (this.#quietMs >= QUIET_MS && this.#sincePingMs >= PING_INTERVAL_MS) this.#ping()
  }

  #ping(): void {
    this.#isPinging = true
    this.#session?.ping()
    this.#sincePingMs = 0
  }

  #close(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#rejectOpening()
    clearTimeout(this.#openTimer)
    clearInterval(this.#ticker)
    this.#onClosed()
    // Wake up the calls that wait for a free stream. They find that the connection is closed, and
    // use another endpoint.
    for (const onFree of this.#waiting.splice(0)) {
      this.#streams++
      onFree()
    }
  }

  #lost(ambiguous: boolean): GrpcError {
    const reason = this.#failure === undefined ? 'connection closed' : reasonOf(this.#failure)
    return new GrpcError('Unavailable', `${this.endpoint}: ${reason}`, {
      ambiguous,
      endpoint: this.endpoint,
      cause: this.#failure,
    })
  }
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/** Starts to connect, and returns the socket. */
function openSocket(endpoint: string, material: TlsMaterial): Socket {
  if (endpoint.startsWith(unixScheme)) return connectPlain({ path: socketPath(endpoint) })
  const { isTls, host, port } = addressOf(endpoint)
  return isTls
    ? connectTls(tlsOptions(host, port, material)).setNoDelay(true)
    : connectPlain({ host, port, noDelay: true })
}

/** Opens a connection with the dialer, and adds TLS if the endpoint requires it. */
async function dialSocket(endpoint: string, material: TlsMaterial, dial: Dial): Promise<Duplex> {
  const { isTls, host, port } = addressOf(endpoint)
  const dialed = dial(host, port, AbortSignal.timeout(DIAL_TIMEOUT_MS))
  return isTls ? secured(dialed, tlsOptions(host, port, material)) : dialed
}

function addressOf(endpoint: string): {
  readonly isTls: boolean
  readonly host: string
  readonly port: number
} {
  const { protocol, hostname, port } = new URL(endpoint)
  return {
    isTls: protocol === 'https:',
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port),
  }
}

const tlsOptions = (host: string, port: number, material: TlsMaterial): TlsConnectionOptions => ({
  // SNI carries host names, not addresses (RFC 6066, 3).
  ...(isIP(host) === 0 ? { servername: host } : {}),
  ...material,
  host,
  port,
  ALPNProtocols: ['h2'],
})

/**
 * Returns the message of an error. If several addresses of the host failed, the AggregateError
 * lists their errors.
 */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map(String).join('; ')
  return error.message
}
