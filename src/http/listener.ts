/**
 * The socket that clients connect to: TLS, with HTTP/2 and HTTP/1.1 on one port. Each request becomes an Exchange, goes
 * through the handler, and its answer is written back. What a client may use of the server stands in `limits.ts`.
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http'
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type SecureServerOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { ServerOpts, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { unreadableRequest } from '../api/errors.ts'
import type { ApiResponse, Handler } from '../api/request.ts'
import type { Log } from '../lib/log.ts'
import { Roster } from '../lib/roster.ts'
import type { Certificate } from '../lib/x509/certificates.ts'
import { Connection } from './connection.ts'
import { type Exchange, type Head, Http1Exchange, Http2Exchange } from './exchange.ts'
import { defaultLimits, type Limits } from './limits.ts'
import { Responder } from './respond.ts'
import { readTarget } from './target.ts'

/** Answers that do not move and idle connections are looked for this many times within the time that they are given. */
const LOOKS_PER_LIMIT = 4
/** Peers that vanished without a word are found out after this long; as kube-apiserver's listener. */
const KEEP_ALIVE_PROBE_MS = 180_000

export type ListenerOptions = Certificate & {
  readonly handler: Handler
  readonly log: Log
  /** Of whom client certificates are asked for. They are not verified here. Absent: none is asked for. */
  readonly clientCaPem?: string | undefined
  /** The oldest version that clients may use. */
  readonly tlsMinVersion?: 'TLSv1.2' | 'TLSv1.3'
  readonly limits?: Partial<Limits>
}

export class Listener implements AsyncDisposable {
  readonly #server: Http2SecureServer
  readonly #handler: Handler
  readonly #log: Log
  readonly #limits: Limits
  readonly #tls: Pick<ListenerOptions, 'clientCaPem' | 'tlsMinVersion'>
  readonly #responder = new Responder()
  /** By the address of the other side, which Node tells of a socket and of a session alike. */
  readonly #connections = new Map<string, Connection>()
  readonly #sessions = new Map<Http2Session, Connection>()
  readonly #exchanges = new Roster<Exchange>()
  /** Those whose answer goes on until somebody ends it. */
  readonly #streaming = new Set<Exchange>()
  readonly #looking: NodeJS.Timeout
  #isClosing = false
  #idle: (() => void) | undefined

  constructor(options: ListenerOptions) {
    this.#handler = options.handler
    this.#log = options.log
    this.#limits = { ...defaultLimits, ...options.limits }
    this.#tls = options
    this.#server = createSecureServer(serverOptions(options, this.#limits))
    this.#server.maxConnections = this.#limits.connectionsMax
    // A 'request' listener would also turn on Node's compatibility layer for every HTTP/2 stream; only HTTP/1.1 needs it.
    this.#server.removeAllListeners('newListener')
    this.#server.on('request', (request: unknown, response: unknown) => this.#onHttp1(request, response))
    this.#server.on('stream', (stream, headers) => this.#onHttp2(stream, headers))
    // Before Node's own listener, which makes sessions and requests of it.
    this.#server.prependListener('secureConnection', (socket) => this.#onSocket(socket))
    this.#server.on('session', (session) => this.#onSession(session))
    this.#server.on('sessionError', (error: Error) => this.#log('debug', 'connection failed', { error: error.message }))
    this.#server.on('tlsClientError', (error) => this.#log('debug', 'TLS handshake failed', { error: error.message }))
    const lookMs = Math.min(this.#limits.stallMsMax, this.#limits.idleMsMax) / LOOKS_PER_LIMIT
    this.#looking = setInterval(() => this.#look(), lookMs).unref()
  }

  /** Comes back when clients can connect. Port 0 picks a free one. Fails when the address cannot be had. */
  async listen(port: number, address: string): Promise<void> {
    this.#server.listen(port, address)
    await once(this.#server, 'listening')
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  get openConnections(): number {
    return this.#connections.size
  }

  /** For connections from now on; those that are open keep theirs. Fails when key and certificate do not fit. */
  setCertificate(certificate: Certificate): void {
    this.#server.setSecureContext(secureContext(certificate, this.#tls))
  }

  /**
   * Takes no more connections, tells clients to go elsewhere, ends the watches, and gives the requests under way `graceMs` to
   * be answered. Then everything ends, answered or not.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true
    clearInterval(this.#looking)
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
    })
    // Sends GOAWAY: requests under way go on, new ones are the next server's.
    for (const session of this.#sessions.keys()) session.close()
    for (const exchange of this.#streaming) exchange.close()
    if (this.#exchanges.size > 0 && graceMs > 0) await this.#answered(graceMs)
    for (const exchange of this.#exchanges.members()) exchange.close()
    // What has been answered may still be on its way to the client; what has not is cut off.
    for (const { open, socket } of this.#connections.values()) {
      if (open === 0) socket.destroySoon()
      else socket.destroy()
    }
    const timer = setTimeout(() => this.#destroy(), FLUSH_MS_MAX)
    await closed
    clearTimeout(timer)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close(0)
  }

  #destroy(): void {
    for (const { socket } of this.#connections.values()) socket.destroy()
  }

  /** Comes back when no request is open, or the time is up. */
  async #answered(graceMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, graceMs)
      this.#idle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #onSocket(socket: TLSSocket): void {
    const peer = peerOf(socket)
    this.#connections.set(peer, new Connection(socket, this.#limits))
    socket.on('close', () => this.#connections.delete(peer))
    socket.on('error', (error) => this.#log('debug', 'connection failed', { error: error.message }))
    if (this.#isClosing) socket.destroy()
  }

  #onSession(session: ServerHttp2Session): void {
    const connection = this.#connections.get(peerOf(session.socket))
    if (connection === undefined) return session.destroy()
    this.#sessions.set(session, connection)
    session.on('close', () => this.#sessions.delete(session))
    session.on('error', (error) => this.#log('debug', 'connection failed', { error: error.message }))
    const onControl = (): void => {
      if (!connection.mayControl()) this.#calm(session, 'pings or settings')
    }
    session.on('ping', onControl).on('remoteSettings', onControl)
    if (this.#isClosing) session.close()
  }

  #countReset(session: Http2Session, connection: Connection): void {
    if (!connection.mayReset()) this.#calm(session, 'requests that were given up')
  }

  /** Ends a connection that does too much of what costs its client nothing. */
  #calm(session: Http2Session, what: string): void {
    if (session.destroyed) return
    this.#log('warn', 'a connection was ended', {
      tooMany: what,
      remoteAddress: this.#sessions.get(session)?.remoteAddress,
    })
    session.destroy(new Error(`too many ${what}`), constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }

  #onHttp2(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on('error', this.#onStreamError)
    const { session } = stream
    const connection = session === undefined ? undefined : this.#sessions.get(session)
    if (session === undefined || connection === undefined) return stream.close(constants.NGHTTP2_REFUSED_STREAM)
    // Given up in the same breath as it was asked: Node hands it over all the same, but nothing needs to be done for it.
    if (stream.destroyed) return this.#countReset(session, connection)
    const target = readTarget(headers[':path'] ?? '')
    const head = {
      method: headers[':method'] ?? '',
      target: target ?? noTarget,
      headers,
      connection,
      limits: this.#limits,
    }
    const exchange = new Http2Exchange(head, stream)
    if (!stream.endAfterHeaders) stream.on('finish', exchange.dropRest)
    stream.on('close', () => {
      this.#end(exchange)
      if (stream.aborted) this.#countReset(session, connection)
    })
    this.#begin(exchange, target !== undefined)
  }

  #onHttp1(request: unknown, response: unknown): void {
    if (!isRequest(request) || !isResponse(response)) return
    request.on('error', (error) => this.#log('debug', 'request failed', { error: error.message }))
    response.on('error', (error) => this.#log('debug', 'answer failed', { error: error.message }))
    const { socket } = request
    const connection = this.#connections.get(peerOf(socket))
    if (connection === undefined) return void socket.destroy()
    // As Go's server, which says nothing of what is usual.
    response.removeHeader('connection')
    const target = readTarget(request.url ?? '')
    const head: Head = {
      method: request.method ?? '',
      target: target ?? noTarget,
      headers: request.headers,
      connection,
      limits: this.#limits,
    }
    const exchange = new Http1Exchange(head, { request, response, isClosing: () => this.#isClosing })
    response.on('close', () => this.#end(exchange))
    this.#begin(exchange, target !== undefined)
  }

  #begin(exchange: Exchange, isReadable: boolean): void {
    exchange.connection.open++
    this.#exchanges.add(exchange)
    void this.#answer(exchange, isReadable)
  }

  /** Never fails. */
  async #answer(exchange: Exchange, isReadable: boolean): Promise<void> {
    try {
      const response = isReadable ? await this.#handler(exchange) : unreadable()
      if ('stream' in response || 'frames' in response) {
        this.#streaming.add(exchange)
        if (this.#isClosing) exchange.close()
      }
      const responding = this.#responder.respond(exchange, response)
      if (responding !== undefined) await responding
    } catch (error) {
      // The handler answers every failure itself, so what failed is the answer on its way: there is nobody left to tell.
      this.#log('error', 'an answer could not be written', { error: String(error) })
      exchange.abort()
    }
  }

  readonly #onStreamError = (error: Error): void => this.#log('debug', 'stream failed', { error: error.message })

  #end(exchange: Exchange): void {
    if (!this.#exchanges.delete(exchange)) return
    const { connection } = exchange
    connection.open--
    if (connection.open === 0) connection.idleSinceMs = performance.now()
    this.#streaming.delete(exchange)
    exchange.close()
    if (this.#exchanges.size === 0) this.#idle?.()
  }

  #look(): void {
    const nowMs = performance.now()
    for (const exchange of this.#exchanges.members()) this.#endIfStalled(exchange, nowMs)
    for (const [session, connection] of this.#sessions) this.#endIfIdle(session, connection, nowMs)
  }

  /** A client that opens its window to the last byte of an answer and no further would keep it here for ever. */
  #endIfStalled(exchange: Exchange, nowMs: number): void {
    if (!exchange.isWriting || exchange.writes !== exchange.writesSeen) exchange.stalledSinceMs = nowMs
    exchange.writesSeen = exchange.writes
    const stalledMs = nowMs - exchange.stalledSinceMs
    // Who does not even take the end of a stream has gone without a word.
    if (stalledMs > 2 * this.#limits.stallMsMax) exchange.connection.socket.destroy()
    else if (stalledMs >= this.#limits.stallMsMax) exchange.abort()
  }

  #endIfIdle(session: Http2Session, { open, idleSinceMs, socket }: Connection, nowMs: number): void {
    const idleMs = open > 0 ? 0 : nowMs - idleSinceMs
    if (idleMs > 2 * this.#limits.idleMsMax) socket.destroy()
    else if (idleMs >= this.#limits.idleMsMax) session.close()
  }
}

/** Answers that were handed to the socket before the end have this long to get through. */
const FLUSH_MS_MAX = 1_000

/**
 * Of HTTP/1.1, told by what they have: importing the classes would load the whole of node:http, with a WebSocket and a fetch
 * that nobody here uses (30 ms and 5 MB at every start).
 */
const isRequest = (value: unknown): value is IncomingMessage =>
  typeof value === 'object' && value !== null && 'httpVersionMajor' in value && value.httpVersionMajor === 1
const isResponse = (value: unknown): value is ServerResponse =>
  typeof value === 'object' && value !== null && 'writeHead' in value && 'assignSocket' in value

function unreadable(): ApiResponse {
  const { code, message } = unreadableRequest()
  return { status: code, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: Buffer.from(message) }
}

const peerOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`

const noTarget = { path: '', query: '' }

function secureContext(
  { certificatePem, keyPem }: Certificate,
  { clientCaPem, tlsMinVersion = 'TLSv1.2' }: Pick<ListenerOptions, 'clientCaPem' | 'tlsMinVersion'>,
) {
  // Without any authority Node would load the system's 150, which nobody here has a use for.
  return { cert: certificatePem, key: keyPem, ca: clientCaPem ?? certificatePem, minVersion: tlsMinVersion }
}

/** Node takes those of HTTP/1.1 and of the listening socket too, though its types do not say so. */
type AllOptions = SecureServerOptions &
  Pick<ServerOpts, 'keepAlive' | 'keepAliveInitialDelay'> &
  Pick<
    ServerOptions,
    'maxHeaderSize' | 'keepAliveTimeout' | 'headersTimeout' | 'requestTimeout' | 'connectionsCheckingInterval'
  >

function serverOptions(options: ListenerOptions, limits: Limits): AllOptions {
  return {
    ...secureContext(options, options),
    allowHTTP1: true,
    requestCert: options.clientCaPem !== undefined,
    rejectUnauthorized: false,
    handshakeTimeout: limits.handshakeMsMax,
    maxSessionMemory: limits.sessionMegabytesMax,
    maxHeaderListPairs: limits.headersMax,
    settings: { maxConcurrentStreams: limits.streamsMax, maxHeaderListSize: limits.headerBytesMax },
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    maxHeaderSize: limits.headerBytesMax,
    keepAliveTimeout: limits.idleMsMax,
    headersTimeout: limits.headMsMax,
    connectionsCheckingInterval: limits.headMsMax / LOOKS_PER_LIMIT,
    requestTimeout: limits.headMsMax + limits.bodyMsMax,
  }
}
