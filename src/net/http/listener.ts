/**
 * The server socket that clients connect to: TLS, with HTTP/2 and HTTP/1.1 on one port. The
 * listener owns the connections. Each request becomes an Exchange, which `exchanges.ts` serves.
 * `limits.ts` limits the resources that a client can use.
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

/**
 * Stalled responses and idle connections are checked this number of times within each time limit.
 */
const LOOKS_PER_LIMIT = 4
/**
 * Maximum number of connections that wait to be accepted. It is Linux's own maximum
 * (net.core.somaxconn). Node's default of 511 is too low for a thousand clients that connect
 * simultaneously: Linux drops connections, and the clients retry for up to a minute.
 */
const BACKLOG = 4096
/** Minimum interval between log messages about clients with too many connections. */
const TELL_EVERY_MS = 10_000

export type ListenerOptions = {
  readonly handler: Handler
  readonly tls: TlsChoice & {
    /**
     * Certificates for specific host names. Clients that request another name get the listener's
     * default certificate.
     */
    readonly namedCertificates?: readonly NamedCertificate[]
  }
  readonly log: Log
  readonly limits?: Partial<Limits>
  /** Whether long responses are compressed for clients that accept it. True by default. */
  readonly compresses?: boolean
  /** Whether CBOR is accepted in requests and responses. */
  readonly takesCbor?: boolean
  /**
   * Whether an HTTP/2 connection is closed after an unauthenticated request. True by
   * default.
   */
  readonly endsUnauthenticated?: boolean
  /** Whether flow control in the handler decides when a write starts. False by default. */
  readonly isWeighedLater?: boolean
  /** Memory budget for all requests and responses together. Unlimited by default. */
  readonly budget?: ByteBudget
  /**
   * Probability that a request makes the listener close its HTTP/2 connection, so that the client
   * can connect to another server. 0 by default.
   */
  readonly goaway?: { readonly chance: number; readonly random: () => number }
  /**
   * Recognizes headers that assert an identity. By default, these are the impersonation headers and
   * the standard front-proxy headers.
   */
  readonly isIdentityHeader?: IsIdentityHeader
  /** Metrics of the listener. If absent, nothing is counted. */
  readonly metrics?: ListenerMetrics
}

export type StopTimes = {
  /** How long the listener waits for the current requests when it closes. */
  readonly graceMs: number
  /** Period over which watches are ended one by one. With 0, all watches end immediately. */
  readonly watchGraceMs?: number
}

export class Listener implements AsyncDisposable {
  readonly #tcp: TcpServer
  /** Accepts no connections itself. The sockets that `#tcp` accepts are passed to it. */
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
  /** Connections whose TLS handshake is in progress, by peer. */
  readonly #handshaking = new Map<string, Socket>()
  /** Number of connections from each address. */
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
    // Only the first value of these headers counts, as in kube-apiserver. The audit log and CORS
    // read them.
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
      tlsCurves,
    } = options.tls
    this.#tls = { certificatePem, keyPem, clientCaPem, tlsMinVersion, tlsCiphers, tlsCurves }
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
      // Set the SNI callback only if there are named certificates, because it makes each handshake
      // slower.
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
   * Resolves when clients can connect. Port 0 selects a free port. Rejects if the address cannot be
   * used. With `reusePort`, several processes can listen at the same address, and the operating
   * system spreads connections over them.
   */
  async listen(port: number, address: string, { reusePort = false } = {}): Promise<void> {
    this.#tcp.listen({ port, host: address, reusePort, backlog: BACKLOG })
    await once(this.#tcp, 'listening')
  }

  /** Takes over the open port of `server`, which must not be used after that. */
  async takeOver(server: TcpServer): Promise<void> {
    this.#tcp.listen(server)
    await once(this.#tcp, 'listening')
  }

  /** Serves a connection that another server has accepted. */
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

  /**
   * Sets the certificate for new connections. Open connections keep theirs. Throws if key and
   * certificate do not match.
   */
  setCertificate(certificate: Certificate): void {
    this.#setTls({ ...this.#tls, ...certificate })
  }

  /**
   * Sets the client CAs for new connections. Throws if the PEM cannot be parsed. Open connections
   * with a client certificate accept no further requests and close when their current requests are
   * complete, because the CA that issued the certificate may no longer be trusted.
   */
  setClientCa(clientCaPem: string): void {
    this.#setTls({ ...this.#tls, clientCaPem })
    // End the handshakes in progress, because they would verify the certificates of their clients
    // with the old CAs.
    for (const socket of this.#handshaking.values()) socket.destroy()
    for (const connection of this.#connections.values()) {
      if (connection.peerCertificate() === undefined) continue
      connection.outdate()
      this.#closeConnection(connection)
    }
  }

  /**
   * Replaces the named certificate at index `at` for new connections. Throws if the key and the
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
   * Prepares for `close` by ending the watches, spread over `watchGraceMs`. Resolves when all
   * requests that are open now are complete, or after the longer of `graceMs` and `watchGraceMs`.
   * Until `close` is called, connections are accepted and new requests are served.
   */
  async drain({ graceMs, watchGraceMs = 0 }: StopTimes): Promise<void> {
    const drained = this.#exchanges.drain(watchGraceMs)
    await withTimeout(drained, Math.max(graceMs, watchGraceMs), { onTimeout: () => undefined })
  }

  /**
   * Stops accepting connections, sends GOAWAY to clients, and ends the watches, spread over
   * `watchGraceMs`. Resolves when all current requests are complete and their clients have read the
   * last byte. After the longer of `graceMs` and `watchGraceMs`, all remaining connections are
   * closed.
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
   * Lets current requests finish, and makes the client use another connection for new ones. An
   * HTTP/1.1 client gets `connection: close` in the next response.
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

  /**
   * Counts the connection for its client address. Destroys the connection and returns false if the
   * client has too many.
   */
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

  /**
   * Refused connections are logged at a limited rate, because there can be thousands of them at
   * once.
   */
  #reportManyConnections(remoteAddress: string, connections: number): void {
    const nowMs = performance.now()
    if (nowMs - this.#reportedManyMs < TELL_EVERY_MS) return
    this.#reportedManyMs = nowMs
    this.#log(
      'warn',
      'a client has reached its connection limit; closing its further connections',
      {
        remoteAddress,
        connections: connections - 1,
      },
    )
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

  /**
   * Creates the HTTP/1.1 server when the first HTTP/1.1 connection arrives. It does not listen on a
   * port; connections are passed to it.
   */
  #createHttp1(): Http1Server {
    // Importing node:http would also load its WebSocket and fetch, which are not used here (30 ms
    // and 5 MB).
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
    // Starts Node's timer that closes connections whose request headers take too long to arrive.
    server.emit('listening')
    return server
  }

  #onHttp1(request: IncomingMessage, response: ServerResponse): void {
    request.on('error', (error) => this.#log('debug', 'request failed', { error: error.message }))
    response.on('error', (error) => this.#log('debug', 'response failed', { error: error.message }))
    const connection = this.#connections.get(request.socket)
    if (connection?.pipeline === undefined) return void request.socket.destroy()
    connection.heads?.began(request)
    connection.pipeline.add(() => this.#beginHttp1(request, response, connection))
  }

  #beginHttp1(request: IncomingMessage, response: ServerResponse, connection: Connection): void {
    const headers = headersOf(request, this.#isKeptApart)
    // As in Go's server, `connection: close` is sent only to HTTP/1.1 clients. `connection:
    // keep-alive` is never sent.
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
    // An upgrade is refused while earlier requests still wait for responses, because the socket
    // carries one response at a time.
    if (connection === undefined || connection.open > 0) return void socket.destroy()
    connection.heads?.leave()
    connection.pipeline?.leave()
    const { ServerResponse: Response } = process.getBuiltinModule('node:http')
    const response = new Response(request)
    response.assignSocket(socket)
    response.on('error', (error) => this.#log('debug', 'response failed', { error: error.message }))
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
    http2.fail(new ConnectionError(CODE.ENHANCE_YOUR_CALM, 'a field block did not arrive in time'))
  }

  /**
   * Closes the connection if the client reads nothing, not even control frames. Such a client is
   * considered dead.
   */
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
  // Node's time limit for whole requests is off, because a proxied body can be endless. Other
  // bodies have a time limit of their own (`body.ts`).
  requestTimeout: 0,
  // Upgrades to other protocols, such as h2c, are ignored, as RFC 9110, section 7.8, allows.
  shouldUpgradeCallback: ({ headers }) => isKnownProtocol(headers.upgrade),
})
