/**
 * The socket that clients connect to: TLS, with HTTP/2 and HTTP/1.1 on one port. Each request becomes an Exchange, goes
 * through the handler, and its answer is written back. What a client may use of the server stands in `limits.ts`.
 */
import { constants, createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, Server as Http1Server, ServerOptions, ServerResponse } from 'node:http'
import type { Server as TcpServer, Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { createServer, type Server as TlsServer, type TlsOptions, type TLSSocket } from 'node:tls'
import { unreadableRequest } from '../api/errors.ts'
import type { ApiResponse, Handler } from '../api/request.ts'
import { HeaderMemory } from '../http2/header-memory.ts'
import { HpackEncoder } from '../http2/hpack-encoder.ts'
import { Turn } from '../http2/output.ts'
import { CODE, codeName, ConnectionError } from '../http2/protocol.ts'
import { ServerConnection } from '../http2/server-connection.ts'
import type { ServerStream } from '../http2/server-stream.ts'
import { Blocks } from '../lib/blocks.ts'
import type { Log } from '../lib/log.ts'
import { Roster } from '../lib/roster.ts'
import type { Certificate } from '../lib/x509/certificates.ts'
import { clientTrustAnchors } from '../lib/x509/trust-anchors.ts'
import { Connection } from './connection.ts'
import { AnswerDate } from './date.ts'
import { drain } from './drain.ts'
import type { Exchange } from './exchange.ts'
import { headersOf, Http1Exchange } from './http1-exchange.ts'
import { Http1Heads } from './http1-heads.ts'
import { refuseHttp1 } from './http1-refusal.ts'
import { Http2Exchange } from './http2-exchange.ts'
import { defaultLimits, type Limits } from './limits.ts'
import { Responder } from './respond.ts'
import { Starts } from './starts.ts'
import { readTarget } from './target.ts'
import { createTcpServer } from './tcp-server.ts'
import { UpgradeExchange } from './upgrade-exchange.ts'

/** Answers that do not move and idle connections are looked for this many times within the time that they are given. */
const LOOKS_PER_LIMIT = 4

export type ListenerOptions = Certificate & {
  readonly handler: Handler
  readonly log: Log
  /**
   * The authorities of client certificates. A client without one, or with one that they do not vouch for, is let in all the
   * same: what that means is for the handler to say. Absent: no certificate is asked for.
   */
  readonly clientCaPem?: string | undefined
  /** The oldest version that clients may use. */
  readonly tlsMinVersion?: 'TLSv1.2' | 'TLSv1.3'
  readonly limits?: Partial<Limits>
  /** Whether clients are offered HTTP/2. Absent: they are. */
  readonly servesHttp2?: boolean
  /** Whether long answers are compressed for clients that take it; absent: they are. */
  readonly compresses?: boolean
  /** Whether answers and bodies may be CBOR. */
  readonly takesCbor?: boolean
  /** Whether an HTTP/2 connection ends after an answer to somebody who has not shown who they are. Absent: it does. */
  readonly endsUnauthenticated?: boolean
}

export type StopTimes = {
  /** What requests under way may take to be answered. */
  readonly graceMs: number
  /** Over how long the ends of watches are spread; 0: they all end at once. */
  readonly watchGraceMs?: number
}

export class Listener implements AsyncDisposable {
  readonly #tcp: TcpServer
  /** Never listens: it is handed sockets. */
  readonly #tlsServer: TlsServer
  #http1: Http1Server | undefined
  readonly #handler: Handler
  readonly #log: Log
  readonly #limits: Limits
  readonly #takesCbor: boolean
  readonly #endsUnauthenticated: boolean
  #tls: TlsChoice
  readonly #responder: Responder
  readonly #http2 = {
    encoder: new HpackEncoder(),
    blocks: new Blocks(),
    turn: new Turn(),
    headerMemory: new HeaderMemory(),
  }
  readonly #date = new AnswerDate()
  readonly #connections = new Map<Duplex, Connection>()
  readonly #exchanges = new Roster<Exchange>()
  readonly #starts = new Starts<Connection, Exchange>((exchange) => {
    if (!this.#exchanges.has(exchange)) return false
    void this.#answer(exchange)
    return true
  })
  /** Those whose answer goes on until somebody ends it: watches, and all others. */
  readonly #watching = new Set<Exchange>()
  readonly #streaming = new Set<Exchange>()
  /** Connections whose TLS handshake is not over, by their peer. */
  readonly #handshaking = new Map<string, Socket>()
  readonly #looking: NodeJS.Timeout
  #isClosing = false
  #closing: Promise<void> | undefined

  constructor(options: ListenerOptions) {
    this.#handler = options.handler
    this.#log = options.log
    this.#limits = { ...defaultLimits, ...options.limits }
    this.#takesCbor = options.takesCbor ?? false
    this.#responder = new Responder({ compresses: options.compresses ?? true })
    this.#endsUnauthenticated = options.endsUnauthenticated ?? true
    const { certificatePem, keyPem, clientCaPem, tlsMinVersion = 'TLSv1.2' } = options
    this.#tls = { certificatePem, keyPem, clientCaPem, tlsMinVersion }
    this.#tcp = createTcpServer({
      silentMsMax: this.#limits.handshakeMsMax,
      onConnection: (socket) => this.#onHandshake(socket),
      onBegun: (socket) => this.#tlsServer.emit('connection', socket),
    })
    this.#tcp.maxConnections = this.#limits.connectionsMax
    this.#tlsServer = createServer(serverOptions(options, this.#limits), (socket) => this.#onSocket(socket))
    this.#tlsServer.on('tlsClientError', (error, socket) => {
      this.#log('debug', 'TLS handshake failed', { error: error.message })
      socket.destroy()
    })
    const lookMs = Math.min(this.#stallMsMax(true), this.#limits.idleMsMax) / LOOKS_PER_LIMIT
    this.#looking = setInterval(() => this.#look(), lookMs).unref()
  }

  /** Comes back when clients can connect. Port 0 picks a free one. Fails when the address cannot be had. */
  async listen(port: number, address: string): Promise<void> {
    this.#tcp.listen(port, address)
    await once(this.#tcp, 'listening')
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

  /** For connections from now on; those that are open keep theirs. Fails when key and certificate do not fit. */
  setCertificate(certificate: Certificate): void {
    this.#setTls({ ...this.#tls, ...certificate })
  }

  /**
   * For connections from now on. Those that were opened with a client certificate end, each when its requests are answered:
   * the authority that vouched for it may be no longer trusted. Fails when it cannot be read.
   */
  setClientCa(clientCaPem: string): void {
    this.#setTls({ ...this.#tls, clientCaPem })
    for (const connection of this.#connections.values()) {
      if (connection.peerCertificate() === undefined) continue
      connection.isOutdated = true
      if (connection.http2 !== undefined) connection.http2.close()
      else if (connection.open === 0) connection.socket.destroySoon()
    }
  }

  #setTls(tls: TlsChoice): void {
    this.#tlsServer.setSecureContext(secureContext(tls))
    this.#tls = tls
  }

  /**
   * Takes no more connections, tells clients by GOAWAY to go elsewhere, and ends the watches, spread over `watchGraceMs`. It
   * comes back when all requests under way are answered, to the last byte that their clients take. After `graceMs`
   * everything ends, answered or not.
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
    for (const exchange of this.#streaming) exchange.close()
    const timer = setTimeout(() => this.#destroy(), Math.max(graceMs, watchGraceMs))
    await drain(this.#watching, watchGraceMs)
    await closed
    clearTimeout(timer)
    clearInterval(this.#looking)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close({ graceMs: 0 })
  }

  /** Requests under way go on, new ones are the next server's. HTTP/1.1 tells so with the next answer. */
  #closeConnection({ http2, open, socket }: Connection): void {
    if (http2 !== undefined) http2.close()
    else if (open === 0) socket.destroySoon()
  }

  #destroy(): void {
    for (const exchange of this.#exchanges.members()) exchange.close()
    for (const { socket } of this.#connections.values()) socket.destroy()
  }

  #onHandshake(socket: Socket): void {
    const peer = peerOf(socket)
    this.#handshaking.set(peer, socket)
    socket.on('close', () => this.#handshaking.get(peer) === socket && this.#handshaking.delete(peer))
    if (this.#isClosing) socket.destroy()
  }

  #onSocket(socket: TLSSocket): void {
    this.#handshaking.delete(peerOf(socket))
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
    }
  }

  #openHttp2(socket: TLSSocket, connection: Connection): void {
    const { mayReset, mayControl, remoteAddress } = connection
    const onRequest = (stream: ServerStream): void => this.#onHttp2(stream, connection)
    const onFault = ({ code, message: error }: ConnectionError): void => {
      const level = code === CODE.ENHANCE_YOUR_CALM ? 'warn' : 'debug'
      this.#log(level, 'HTTP/2 connection error', { code: codeName(code), error, remoteAddress })
    }
    const owner = { onRequest, mayReset, mayControl, onFault }
    connection.http2 = new ServerConnection({ ...this.#http2, socket, limits: this.#limits, owner })
  }

  #onHttp2(stream: ServerStream, connection: Connection): void {
    const { method, target: raw, headers } = stream.head
    const target = readTarget(raw)
    const head = { method, target: target ?? noTarget, headers, connection, limits: this.#limits }
    const exchange = new Http2Exchange(head, stream, this.#date)
    stream.onClose = () => this.#end(exchange)
    this.#begin(exchange, target !== undefined)
  }

  /** Made when somebody comes with HTTP/1.1. It never listens: it is handed sockets. */
  #createHttp1(): Http1Server {
    // An import would load all of node:http, with a WebSocket and a fetch that nobody here uses (30 ms and 5 MB).
    const { Server } = process.getBuiltinModule('node:http')
    const server = new Server(http1Options(this.#limits), (request, response) => this.#onHttp1(request, response))
    server.on('upgrade', (request, _socket, head) => this.#onUpgrade(request, head))
    server.on('clientError', (error, socket) => {
      const connection = this.#connections.get(socket)
      refuseHttp1(socket, error, (connection?.open ?? 0) > 1 || connection?.hasBegunAnswer?.() === true)
    })
    // Begins to look for requests that do not come to an end.
    server.emit('listening')
    return server
  }

  #onHttp1(request: IncomingMessage, response: ServerResponse): void {
    request.on('error', (error) => this.#log('debug', 'request failed', { error: error.message }))
    response.on('error', (error) => this.#log('debug', 'answer failed', { error: error.message }))
    const { socket } = request
    const headers = headersOf(request)
    const connection = this.#connections.get(socket)
    if (connection === undefined) return void socket.destroy()
    connection.heads?.began(request)
    // As Go's server, which says nothing of what is usual.
    response.removeHeader('connection')
    const target = readTarget(request.url ?? '')
    const head = { method: request.method ?? '', target: target ?? noTarget, headers, connection, limits: this.#limits }
    const isClosing = (): boolean => this.#isClosing || connection.isOutdated
    const exchange = new Http1Exchange(head, { request, response, isClosing })
    connection.hasBegunAnswer = () => response.headersSent && !response.writableFinished
    response.on('close', () => this.#end(exchange))
    this.#begin(exchange, target !== undefined)
  }

  #onUpgrade(request: IncomingMessage, rest: Buffer): void {
    const { socket } = request
    const headers = headersOf(request)
    const connection = this.#connections.get(socket)
    if (connection === undefined) return void socket.destroy()
    connection.heads?.leave()
    const { ServerResponse: Response } = process.getBuiltinModule('node:http')
    const response = new Response(request)
    response.assignSocket(socket)
    response.on('error', (error) => this.#log('debug', 'answer failed', { error: error.message }))
    response.on('finish', () => socket.destroySoon())
    if (rest.length > 0) socket.unshift(rest)
    const target = readTarget(request.url ?? '')
    const head = { method: request.method ?? '', target: target ?? noTarget, headers, connection, limits: this.#limits }
    const exchange = new UpgradeExchange(head, { request, response, socket })
    socket.on('close', () => this.#end(exchange))
    this.#begin(exchange, target !== undefined)
  }

  #begin(exchange: Exchange, isReadable: boolean): void {
    exchange.connection.open++
    exchange.takesCbor = this.#takesCbor
    exchange.isReadable = isReadable
    this.#exchanges.add(exchange)
    this.#starts.add(exchange)
  }

  /** Never fails. */
  async #answer(exchange: Exchange): Promise<void> {
    try {
      const response = exchange.isReadable ? await this.#handler(exchange) : unreadable()
      if (response.isUnauthenticated === true) this.#boundUnauthenticated(exchange)
      else exchange.connection.isAuthenticated = true
      if (this.#exchanges.has(exchange)) this.#keepWhileStreaming(exchange, response)
      if (this.#isClosing && !('body' in response)) exchange.close()
      if ('tunnel' in response) return this.#handOver(exchange, response)
      const responding = this.#responder.respond(exchange, response)
      if (responding !== undefined) await responding
    } catch (error) {
      // The handler answers every failure itself, so what failed is the answer on its way: there is nobody left to tell.
      this.#log('error', 'an answer could not be written', { error: String(error) })
      exchange.abort()
    }
  }

  /** As kube-apiserver: who has not shown who they are gets no further request out of an HTTP/2 connection (CVE-2023-44487). */
  #boundUnauthenticated(exchange: Exchange): void {
    exchange.isUnauthenticated = true
    if (this.#endsUnauthenticated) exchange.connection.http2?.close()
  }

  /** Its client is still there: otherwise nobody would take it out again. */
  #keepWhileStreaming(exchange: Exchange, response: ApiResponse): void {
    if ('frames' in response) this.#watching.add(exchange)
    else if (!('body' in response)) this.#streaming.add(exchange)
  }

  #handOver(exchange: Exchange, response: Extract<ApiResponse, { tunnel: unknown }>): void {
    if (exchange instanceof UpgradeExchange && !exchange.isGone && !this.#isClosing) return exchange.handOver(response)
    exchange.abort()
    // Whatever is at the other end hears that this one is closed, which a socket that is closed already would not tell.
    response.tunnel(new Duplex().destroy())
  }

  #end(exchange: Exchange): void {
    if (!this.#exchanges.delete(exchange)) return
    const { connection } = exchange
    connection.open--
    if (connection.open === 0) {
      connection.idleSinceMs = performance.now()
      connection.heads?.answered()
    }
    this.#watching.delete(exchange)
    this.#streaming.delete(exchange)
    exchange.close()
    if (this.#isClosing) this.#closeConnection(connection)
  }

  #look(): void {
    const nowMs = performance.now()
    for (const exchange of this.#exchanges.members()) this.#endIfStalled(exchange, nowMs)
    for (const connection of this.#connections.values()) {
      if (connection.http2 === undefined) continue
      this.#endIfIdle(connection, connection.http2, nowMs)
      this.#endIfHeadersStall(connection.http2, nowMs)
      this.#endIfUnresponsive(connection, connection.http2, nowMs)
    }
  }

  /** A client that opens its window to the last byte of an answer and no further would keep it here for ever. */
  #endIfStalled(exchange: Exchange, nowMs: number): void {
    if (!exchange.isWriting || exchange.progress !== exchange.progressSeen) exchange.stalledSinceMs = nowMs
    exchange.progressSeen = exchange.progress
    if (nowMs - exchange.stalledSinceMs >= this.#stallMsMax(exchange.isUnauthenticated)) exchange.abort()
  }

  #endIfIdle({ open, idleSinceMs, socket }: Connection, http2: ServerConnection, nowMs: number): void {
    const idleMs = open > 0 ? 0 : nowMs - idleSinceMs
    if (idleMs > 2 * this.#limits.idleMsMax) socket.destroy()
    else if (idleMs >= this.#limits.idleMsMax) http2.close()
  }

  #endIfHeadersStall(http2: ServerConnection, nowMs: number): void {
    const { fieldBlockSinceMs } = http2
    if (fieldBlockSinceMs === undefined || nowMs - fieldBlockSinceMs < this.#limits.headMsMax) return
    http2.fail(new ConnectionError(CODE.ENHANCE_YOUR_CALM, 'a field block did not come in time'))
  }

  /** Who takes nothing at all, not even control frames, has vanished. */
  #endIfUnresponsive(connection: Connection, { waitingBytes, writes }: ServerConnection, nowMs: number): void {
    if (waitingBytes === 0 || writes !== connection.writesSeen) connection.stalledSinceMs = nowMs
    connection.writesSeen = writes
    if (nowMs - connection.stalledSinceMs >= 2 * this.#stallMsMax(!connection.isAuthenticated)) {
      connection.socket.destroy()
    }
  }

  #stallMsMax(isUnauthenticated: boolean): number {
    const { stallMsMax, unauthenticatedStallMsMax } = this.#limits
    return isUnauthenticated ? Math.min(stallMsMax, unauthenticatedStallMsMax) : stallMsMax
  }
}

function unreadable(): ApiResponse {
  const { code, message } = unreadableRequest()
  return { status: code, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: Buffer.from(message) }
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

const noTarget = { path: '', query: '' }

type TlsChoice = Pick<ListenerOptions, 'certificatePem' | 'keyPem' | 'clientCaPem' | 'tlsMinVersion'>

/** Fails when key and certificate do not fit. OpenSSL would take a file that is still empty, and then refuse every client. */
function secureContext({ certificatePem, keyPem, clientCaPem, tlsMinVersion = 'TLSv1.2' }: TlsChoice) {
  const isPair = new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem))
  if (!isPair) throw new Error('the private key is not that of the certificate')
  // Without any authority Node would load the system's 150, which nobody here has a use for.
  const ca = clientCaPem === undefined ? certificatePem : clientTrustAnchors(clientCaPem)
  // A second handshake could bring another certificate, while the verdict on the socket stays that on the first.
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION
  return { cert: certificatePem, key: keyPem, ca, minVersion: tlsMinVersion, secureOptions }
}

function serverOptions(options: ListenerOptions, limits: Limits): TlsOptions {
  return {
    ...secureContext(options),
    ALPNProtocols: (options.servesHttp2 ?? true) ? ['h2', 'http/1.1'] : ['http/1.1'],
    requestCert: options.clientCaPem !== undefined,
    rejectUnauthorized: false,
    handshakeTimeout: limits.handshakeMsMax,
  }
}

const http1Options = (limits: Limits): ServerOptions => ({
  maxHeaderSize: limits.headerBytesMax,
  keepAliveTimeout: limits.idleMsMax,
  headersTimeout: limits.headMsMax,
  connectionsCheckingInterval: limits.headMsMax / LOOKS_PER_LIMIT,
  // Who reads a body says how long it may take: one that is handed on has no end of its own.
  requestTimeout: 0,
  // Others, such as h2c, are passed over, as RFC 9110 section 7.8 allows.
  shouldUpgradeCallback: ({ headers }) => /^(websocket|spdy\/3\.1)$/i.test(headers.upgrade ?? ''),
})
