/**
 * The socket that clients connect to: TLS, with HTTP/2 and HTTP/1.1 on one port. It keeps the
 * connections; each request on one becomes an Exchange, which `exchanges.ts` answers. `limits.ts`
 * says how much of the server a client may use.
 */
import { once } from 'node:events'
import type {
  IncomingMessage,
  Server as Http1Server,
  ServerOptions,
  ServerResponse,
} from 'node:http'
import type { Server as TcpServer, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer, type Server as TlsServer, type TlsOptions, type TLSSocket } from 'node:tls'
import { identityHeaderTest, type IsIdentityHeader } from '../../api/identity-headers.ts'
import { isKnownProtocol } from '../../api/proxied-headers.ts'
import type { Handler } from '../../api/request.ts'
import { HeaderMemory } from '../http2/header-memory.ts'
import { HpackEncoder } from '../http2/hpack-encoder.ts'
import { Turn } from '../http2/turn.ts'
import { CODE, codeName, ConnectionError } from '../http2/protocol.ts'
import { ServerConnection } from '../http2/server-connection.ts'
import type { ServerStream } from '../http2/server-stream.ts'
import { Blocks } from '../../lib/bytes/blocks.ts'
import { ByteBudget } from '../../lib/bytes/byte-budget.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { withTimeout } from '../../lib/time/timers.ts'
import type { Certificate } from '../../lib/x509/certificates.ts'
import { Connection } from './connection.ts'
import { AnswerDate } from './date.ts'
import type { Exchange } from './exchange.ts'
import { Exchanges } from './exchanges.ts'
import { headersOf, Http1Exchange } from './http1-exchange.ts'
import { Http1Heads } from './http1-heads.ts'
import { Http1Pipeline } from './http1-pipeline.ts'
import { refuseHttp1 } from './http1-refusal.ts'
import { Http2Exchange } from './http2-exchange.ts'
import { type ContextFor, contextsByName, type NamedCertificate } from './named-certificates.ts'
import { defaultLimits, type Limits, stallMsMaxOf } from './limits.ts'
import type { ListenerMetrics } from './metrics.ts'
import { Responder } from './respond.ts'
import { readTarget } from './target.ts'
import { createTcpServer } from './tcp-server.ts'
import { secureContext, type TlsChoice, tlsOptions } from './tls-options.ts'
import { UpgradeExchange } from './upgrade-exchange.ts'

/** How many times within their limits stalled answers and idle connections are checked for. */
const LOOKS_PER_LIMIT = 4
/**
 * Connections that may wait until they are accepted: Linux's own limit (net.core.somaxconn). Node's
 * default of 511 is too low for a thousand clients that connect at once: Linux then drops
 * connections, and a client tries again for up to a minute.
 */
const BACKLOG = 4096
/** How often it is logged that a client has too many connections. */
const TELL_EVERY_MS = 10_000

export type ListenerOptions = {
  readonly handler: Handler
  readonly tls: TlsChoice & {
    /** For clients that ask for their names; all others get the certificate of the listener. */
    readonly namedCertificates?: readonly NamedCertificate[]
  }
  readonly log: Log
  readonly limits?: Partial<Limits>
  /** Whether long answers are compressed for clients that take it; absent: they are. */
  readonly compresses?: boolean
  /** Whether answers and bodies may be CBOR. */
  readonly takesCbor?: boolean
  /**
   * Whether an HTTP/2 connection is closed after a request that is not authenticated. Absent: it
   * is.
   */
  readonly endsUnauthenticated?: boolean
  /** Whether the handler itself decides when a request begins. Absent: it does not. */
  readonly isWeighedLater?: boolean
  /** What requests and answers may hold together. Absent: any amount. */
  readonly budget?: ByteBudget
  /** With which chance a client is sent elsewhere after a request over HTTP/2. Absent: never. */
  readonly goaway?: { readonly chance: number; readonly random: () => number }
  /** Absent: those of impersonation, and the standard ones of front proxies. */
  readonly isIdentityHeader?: IsIdentityHeader
  /** Absent: nothing is counted. */
  readonly metrics?: ListenerMetrics
}

export type StopTimes = {
  /** How long requests under way may take to be answered. */
  readonly graceMs: number
  /** Over how long the ends of watches are spread; 0: they all end at once. */
  readonly watchGraceMs?: number
}

export class Listener implements AsyncDisposable {
  readonly #tcp: TcpServer
  /** Never listens: it is handed sockets. */
  readonly #tlsServer: TlsServer
  #http1: Http1Server | undefined
  readonly #log: Log
  readonly #metrics: ListenerMetrics | undefined
  readonly #limits: Limits
  #tls: TlsChoice
  #named: readonly NamedCertificate[]
  #contextFor: ContextFor
  readonly #isKeptApart: (name: string) => boolean
  readonly #http2 = {
    encoder: new HpackEncoder(),
    blocks: new Blocks(),
    turn: new Turn(),
    headerMemory: new HeaderMemory(),
  }
  readonly #date = new AnswerDate()
  readonly #connections = new Map<Duplex, Connection>()
  readonly #exchanges: Exchanges
  /** Connections whose TLS handshake is not over, by their peer. */
  readonly #handshaking = new Map<string, Socket>()
  /** How many there are from each address. */
  readonly #perClient = new Map<string, number>()
  #reportedManyMs = -Infinity
  readonly #looking: NodeJS.Timeout
  #isClosing = false
  #closing: Promise<void> | undefined

  constructor(options: ListenerOptions) {
    this.#log = options.log
    this.#metrics = options.metrics
    this.#metrics?.show(this)
    this.#limits = { ...defaultLimits, ...options.limits }
    const isIdentityHeader = options.isIdentityHeader ?? identityHeaderTest()
    // Of several of these the first counts, as upstream: in the audit log, and for CORS.
    const singular = new Set(['x-forwarded-for', 'x-real-ip', 'origin'])
    this.#isKeptApart = (name) => singular.has(name) || isIdentityHeader(name)
    this.#exchanges = new Exchanges({
      handler: options.handler,
      responder: new Responder({ compresses: options.compresses ?? true }),
      log: options.log,
      limits: this.#limits,
      takesCbor: options.takesCbor ?? false,
      endsUnauthenticated: options.endsUnauthenticated ?? true,
      isWeighedLater: options.isWeighedLater ?? false,
      budget: options.budget ?? new ByteBudget(Infinity),
      sendsAway: sendsAway(options.goaway),
      isIdentityHeader,
    })
    const {
      certificatePem,
      keyPem,
      clientCaPem,
      tlsMinVersion = 'TLSv1.2',
      tlsCiphers,
    } = options.tls
    this.#tls = { certificatePem, keyPem, clientCaPem, tlsMinVersion, tlsCiphers }
    this.#named = options.tls.namedCertificates ?? []
    this.#contextFor = contextsByName(this.#named, this.#tls)
    this.#tcp = createTcpServer({
      silentMsMax: this.#limits.handshakeMsMax,
      onConnection: (socket) => this.#onHandshake(socket),
      onBegun: (socket) => this.#tlsServer.emit('connection', socket),
    })
    this.#tcp.maxConnections = this.#limits.connectionsMax
    const byName: TlsOptions = {
      SNICallback: (name, choose) => choose(null, this.#contextFor(name)),
    }
    this.#tlsServer = createServer(
      // Without a callback Node has less to do for each handshake.
      { ...tlsOptions(options.tls, this.#limits), ...(this.#named.length > 0 ? byName : {}) },
      (socket) => this.#onSocket(socket),
    )
    this.#tlsServer.on('tlsClientError', (error, socket) => {
      this.#metrics?.handshakeFailed()
      this.#log('debug', 'TLS handshake failed', { error: error.message })
      socket.destroy()
    })
    const lookMs =
      Math.min(stallMsMaxOf(this.#limits, { isUnauthenticated: true }), this.#limits.idleMsMax) /
      LOOKS_PER_LIMIT
    this.#looking = setInterval(() => this.#checkTimeouts(), lookMs).unref()
  }

  /**
   * Resolves when clients can connect. Port 0 picks a free one. Fails if the address cannot be
   * used. `reusePort`: others may listen at the same address, if they say so, too; the system
   * spreads connections over all of them.
   */
  async listen(port: number, address: string, { reusePort = false } = {}): Promise<void> {
    this.#tcp.listen({ port, host: address, reusePort, backlog: BACKLOG })
    await once(this.#tcp, 'listening')
  }

  /** As `listen`, at the address of a server that listens already and is not used any more. */
  async takeOver(server: TcpServer): Promise<void> {
    this.#tcp.listen(server)
    await once(this.#tcp, 'listening')
  }

  /** A connection that was accepted elsewhere. */
  accept(socket: Socket): void {
    this.#tcp.emit('connection', socket)
  }

  get port(): number {
    const address = this.#tcp.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  get openConnections(): number {
    return this.#connections.size
  }

  get openRequests(): number {
    return this.#exchanges.size
  }

  /** For new connections; open ones keep theirs. Fails if key and certificate do not match. */
  setCertificate(certificate: Certificate): void {
    this.#setTls({ ...this.#tls, ...certificate })
  }

  /**
   * For new connections. Open ones that have a client certificate take no further requests and are
   * closed, each when its requests are answered: the CA that issued it may no longer be trusted.
   * Fails if the PEM cannot be read.
   */
  setClientCa(clientCaPem: string): void {
    this.#setTls({ ...this.#tls, clientCaPem })
    // A handshake that has begun would be verified by the old ones.
    for (const socket of this.#handshaking.values()) socket.destroy()
    for (const connection of this.#connections.values()) {
      if (connection.peerCertificate() === undefined) continue
      connection.outdate()
      this.#closeConnection(connection)
    }
  }

  /**
   * For new connections: the certificate at this place of those by name. Fails if key and
   * certificate do not match.
   */
  setNamedCertificate(at: number, certificate: Certificate): void {
    const named = this.#named.map((one, place) => (place === at ? { ...one, ...certificate } : one))
    this.#contextFor = contextsByName(named, this.#tls)
    this.#named = named
  }

  #setTls(tls: TlsChoice): void {
    const contextFor = contextsByName(this.#named, tls)
    this.#tlsServer.setSecureContext(secureContext(tls))
    this.#contextFor = contextFor
    this.#tls = tls
  }

  /**
   * Before `close`: ends the watches, spread over `watchGraceMs`, and resolves when the requests
   * that are under way now are answered, or after the longer of both times. Connections are
   * accepted, and requests answered, until `close`.
   */
  async drain({ graceMs, watchGraceMs = 0 }: StopTimes): Promise<void> {
    const drained = this.#exchanges.drain(watchGraceMs)
    await withTimeout(drained, Math.max(graceMs, watchGraceMs), { onTimeout: () => undefined })
  }

  /**
   * Accepts no more connections, tells clients by GOAWAY to go elsewhere, and ends the watches,
   * spread over `watchGraceMs`. Resolves when all requests under way are answered, to the last byte
   * that their clients read. After the longer of `graceMs` and `watchGraceMs` everything is closed,
   * answered or not.
   */
  close(times: StopTimes): Promise<void> {
    this.#closing ??= this.#close(times)
    return this.#closing
  }

  async #close({ graceMs, watchGraceMs = 0 }: StopTimes): Promise<void> {
    this.#isClosing = true
    const closed = new Promise<void>((resolve) => {
      this.#tcp.close(() => resolve())
    })
    for (const socket of this.#handshaking.values()) socket.destroy()
    for (const connection of this.#connections.values()) this.#closeConnection(connection)
    this.#http1?.close()
    const timer = setTimeout(() => this.#destroy(), Math.max(graceMs, watchGraceMs))
    await this.#exchanges.close(watchGraceMs)
    await closed
    clearTimeout(timer)
    clearInterval(this.#looking)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close({ graceMs: 0 })
  }

  /**
   * Requests under way go on; new ones are for another server. HTTP/1.1 clients learn so by
   * `connection: close` in the next answer.
   */
  #closeConnection({ http2, open, socket, pipeline }: Connection): void {
    pipeline?.close()
    if (http2 !== undefined) http2.close()
    else if (open === 0) socket.destroySoon()
  }

  #destroy(): void {
    this.#exchanges.destroy()
    for (const { socket } of this.#connections.values()) socket.destroy()
  }

  #onHandshake(socket: Socket): void {
    if (!this.#countClient(socket)) return
    const peer = peerOf(socket)
    this.#handshaking.set(peer, socket)
    socket.on(
      'close',
      () => this.#handshaking.get(peer) === socket && this.#handshaking.delete(peer),
    )
    if (this.#isClosing) socket.destroy()
  }

  /** False: its client has as many as it may have. */
  #countClient(socket: Socket): boolean {
    const { remoteAddress = '' } = socket
    const count = (this.#perClient.get(remoteAddress) ?? 0) + 1
    if (count > this.#limits.connectionsPerClientMax) {
      this.#reportManyConnections(remoteAddress, count)
      socket.destroy()
      return false
    }
    this.#perClient.set(remoteAddress, count)
    socket.once('close', () => {
      const left = (this.#perClient.get(remoteAddress) ?? 1) - 1
      if (left === 0) this.#perClient.delete(remoteAddress)
      else this.#perClient.set(remoteAddress, left)
    })
    return true
  }

  /** Now and then: what is refused comes by the thousand. */
  #reportManyConnections(remoteAddress: string, connections: number): void {
    const nowMs = performance.now()
    if (nowMs - this.#reportedManyMs < TELL_EVERY_MS) return
    this.#reportedManyMs = nowMs
    this.#log('warn', 'a client has as many connections as it may have; further ones are closed', {
      remoteAddress,
      connections: connections - 1,
    })
  }

  #onSocket(socket: TLSSocket): void {
    this.#handshaking.delete(peerOf(socket))
    this.#metrics?.connected(
      socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1',
      socket.isSessionReused(),
    )
    const connection = new Connection(socket, this.#limits)
    this.#connections.set(socket, connection)
    socket.on('close', () => this.#connections.delete(socket))
    socket.on('error', (error) => this.#log('debug', 'connection failed', { error: error.message }))
    if (this.#isClosing) socket.destroy()
    else if (socket.alpnProtocol === 'h2') this.#openHttp2(socket, connection)
    else {
      this.#http1 ??= this.#createHttp1()
      this.#http1.emit('connection', socket)
      connection.heads = new Http1Heads(socket, this.#http2.headerMemory)
      connection.pipeline = new Http1Pipeline(socket, this.#limits)
    }
  }

  #openHttp2(socket: TLSSocket, connection: Connection): void {
    const { mayReset, mayControl, remoteAddress } = connection
    const onRequest = (stream: ServerStream): void => this.#onHttp2(stream, connection)
    const onFault = ({ code, message: error }: ConnectionError): void => {
      const level = code === CODE.ENHANCE_YOUR_CALM ? 'warn' : 'debug'
      this.#metrics?.http2Fault(codeName(code))
      this.#log(level, 'HTTP/2 connection error', { code: codeName(code), error, remoteAddress })
    }
    const owner = { onRequest, mayReset, mayControl, onFault }
    const isKeptApart = this.#isKeptApart
    connection.http2 = new ServerConnection({
      ...this.#http2,
      socket,
      limits: this.#limits,
      owner,
      isKeptApart,
    })
  }

  #onHttp2(stream: ServerStream, connection: Connection): void {
    const { method, target: raw, headers } = stream.head
    const target = readTarget(raw)
    const head = { method, target: target ?? noTarget, headers, connection, limits: this.#limits }
    const exchange = new Http2Exchange(head, stream, this.#date)
    stream.onClose = () => this.#end(exchange)
    this.#exchanges.begin(exchange, target !== undefined)
  }

  /** Created for the first HTTP/1.1 connection. It never listens: it is handed sockets. */
  #createHttp1(): Http1Server {
    // An import would load all of node:http, with a WebSocket and a fetch that are not used here
    // (30 ms and 5 MB).
    const { Server } = process.getBuiltinModule('node:http')
    const server = new Server(http1Options(this.#limits), (request, response) =>
      this.#onHttp1(request, response),
    )
    server.on('upgrade', (request, _socket, head) => this.#onUpgrade(request, head))
    server.on('clientError', (error, socket) => {
      const connection = this.#connections.get(socket)
      refuseHttp1(
        socket,
        error,
        (connection?.pipeline?.length ?? 0) > 1 || connection?.hasBegunAnswer?.() === true,
      )
    })
    // Starts Node's periodic check for requests that exceed headersTimeout.
    server.emit('listening')
    return server
  }

  #onHttp1(request: IncomingMessage, response: ServerResponse): void {
    request.on('error', (error) => this.#log('debug', 'request failed', { error: error.message }))
    response.on('error', (error) => this.#log('debug', 'answer failed', { error: error.message }))
    const connection = this.#connections.get(request.socket)
    if (connection?.pipeline === undefined) return void request.socket.destroy()
    connection.heads?.began(request)
    connection.pipeline.add(() => this.#beginHttp1(request, response, connection))
  }

  #beginHttp1(request: IncomingMessage, response: ServerResponse, connection: Connection): void {
    const headers = headersOf(request, this.#isKeptApart)
    // As Go's server, which tells a client of HTTP/1.1 that the connection is closed, and nobody
    // that it is kept.
    if (response.shouldKeepAlive || request.httpVersion === '1.0')
      response.removeHeader('connection')
    const target = readTarget(request.url ?? '')
    const head = {
      method: request.method ?? '',
      target: target ?? noTarget,
      headers,
      connection,
      limits: this.#limits,
    }
    const isClosing = (): boolean => this.#isClosing || connection.isEnding
    const exchange = new Http1Exchange(head, {
      request,
      response,
      isClosing,
      turn: this.#http2.turn,
    })
    connection.hasBegunAnswer = () => response.headersSent && !response.writableFinished
    response.on('close', () => this.#end(exchange))
    this.#exchanges.begin(exchange, target !== undefined)
  }

  #onUpgrade(request: IncomingMessage, rest: Buffer): void {
    const { socket } = request
    const headers = headersOf(request, this.#isKeptApart)
    const connection = this.#connections.get(socket)
    // Behind requests that are not answered it cannot be: there is one answer at a time on the
    // socket.
    if (connection === undefined || connection.open > 0) return void socket.destroy()
    connection.heads?.leave()
    connection.pipeline?.leave()
    const { ServerResponse: Response } = process.getBuiltinModule('node:http')
    const response = new Response(request)
    response.assignSocket(socket)
    response.on('error', (error) => this.#log('debug', 'answer failed', { error: error.message }))
    response.on('finish', () => socket.destroySoon())
    if (rest.length > 0) socket.unshift(rest)
    const target = readTarget(request.url ?? '')
    const head = {
      method: request.method ?? '',
      target: target ?? noTarget,
      headers,
      connection,
      limits: this.#limits,
    }
    const exchange = new UpgradeExchange(head, {
      request,
      response,
      socket,
      turn: this.#http2.turn,
    })
    socket.on('close', () => this.#end(exchange))
    this.#exchanges.begin(exchange, target !== undefined)
  }

  #end(exchange: Exchange): void {
    if (!this.#exchanges.end(exchange)) return
    const { connection } = exchange
    if (this.#isClosing || connection.isEnding) this.#closeConnection(connection)
    else connection.pipeline?.next()
  }

  #checkTimeouts(): void {
    const nowMs = performance.now()
    this.#exchanges.endStalled(nowMs)
    for (const connection of this.#connections.values()) {
      if (connection.http2 === undefined) continue
      this.#endIfIdle(connection, connection.http2, nowMs)
      this.#endIfHeadersStall(connection.http2, nowMs)
      this.#endIfUnresponsive(connection, connection.http2, nowMs)
    }
  }

  #endIfIdle(
    { open, idleSinceMs, socket }: Connection,
    http2: ServerConnection,
    nowMs: number,
  ): void {
    const idleMs = open > 0 ? 0 : nowMs - idleSinceMs
    if (idleMs > 2 * this.#limits.idleMsMax) socket.destroy()
    else if (idleMs >= this.#limits.idleMsMax) http2.close()
  }

  #endIfHeadersStall(http2: ServerConnection, nowMs: number): void {
    const { fieldBlockSinceMs } = http2
    if (fieldBlockSinceMs === undefined || nowMs - fieldBlockSinceMs < this.#limits.headMsMax)
      return
    http2.fail(new ConnectionError(CODE.ENHANCE_YOUR_CALM, 'a field block did not come in time'))
  }

  /** A client that reads nothing at all, not even control frames, has vanished. */
  #endIfUnresponsive(
    connection: Connection,
    { waitingBytes, writes }: ServerConnection,
    nowMs: number,
  ): void {
    if (waitingBytes === 0 || writes !== connection.writesSeen) connection.stalledSinceMs = nowMs
    connection.writesSeen = writes
    if (
      nowMs - connection.stalledSinceMs >=
      2 * stallMsMaxOf(this.#limits, { isUnauthenticated: !connection.isAuthenticated })
    ) {
      connection.socket.destroy()
    }
  }
}

const sendsAway = (goaway: ListenerOptions['goaway']): (() => boolean) =>
  goaway === undefined || goaway.chance === 0 ? () => false : () => goaway.random() < goaway.chance

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

const noTarget = { path: '', query: '' }

const http1Options = (limits: Limits): ServerOptions => ({
  maxHeaderSize: limits.headerBytesMax,
  keepAliveTimeout: limits.idleMsMax,
  headersTimeout: limits.headMsMax,
  connectionsCheckingInterval: limits.headMsMax / LOOKS_PER_LIMIT,
  // The reader of a body limits its time: a body that is proxied may have no end.
  requestTimeout: 0,
  // Other protocols, such as h2c, are ignored, as RFC 9110 section 7.8 allows.
  shouldUpgradeCallback: ({ headers }) => isKnownProtocol(headers.upgrade),
})
