/**
 * The socket that clients connect to: TLS, with HTTP/2 and HTTP/1.1 on one port. Each request becomes an Exchange, goes
 * through the handler, and its answer is written back.
 */
import { once } from 'node:events'
import { IncomingMessage, type ServerOptions, ServerResponse } from 'node:http'
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type SecureServerOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import { unreadableRequest } from '../api/errors.ts'
import type { ApiResponse, Handler, Headers } from '../api/request.ts'
import type { Log } from '../lib/log.ts'
import { Exchange, type Incoming, type Outgoing, readTarget } from './exchange.ts'
import { respond } from './respond.ts'

/** As kube-apiserver; Node's own 16 KB is less than some proxies add. */
const HEADERS_BYTES_MAX = 1024 * 1024
/** As Go's server. A client with more watches opens another connection. */
const STREAMS_PER_CONNECTION_MAX = 250
/** As upstream. Node's own 5 s is less than the pause between two requests of many clients, who then meet a closed connection. */
const IDLE_MS_MAX = 90_000
/** Node refuses streams when a connection holds more than this many megabytes; its own limit of 10 is less than some lists. */
const SESSION_MEGABYTES_MAX = 64

export type ListenerOptions = {
  readonly handler: Handler
  readonly certificatePem: string
  readonly keyPem: string
  readonly log: Log
}

export class Listener implements AsyncDisposable {
  readonly #server: Http2SecureServer
  readonly #handler: Handler
  readonly #log: Log
  readonly #exchanges = new Set<Exchange>()
  readonly #sessions = new Set<ServerHttp2Session>()
  readonly #sockets = new Set<Socket>()
  /** Those whose answer goes on until somebody ends it. */
  readonly #streaming = new Set<Exchange>()
  #isClosing = false
  #idle: (() => void) | undefined

  constructor({ handler, certificatePem, keyPem, log }: ListenerOptions) {
    this.#handler = handler
    this.#log = log
    const options: SecureServerOptions & Pick<ServerOptions, 'maxHeaderSize' | 'keepAliveTimeout'> = {
      allowHTTP1: true,
      cert: certificatePem,
      key: keyPem,
      minVersion: 'TLSv1.2',
      maxSessionMemory: SESSION_MEGABYTES_MAX,
      settings: { maxConcurrentStreams: STREAMS_PER_CONNECTION_MAX, maxHeaderListSize: HEADERS_BYTES_MAX },
      // Of HTTP/1.1; Node takes them, though its types do not have them.
      maxHeaderSize: HEADERS_BYTES_MAX,
      keepAliveTimeout: IDLE_MS_MAX,
    }
    this.#server = createSecureServer(options)
    // A 'request' listener would also turn on Node's compatibility layer for every HTTP/2 stream; only HTTP/1.1 needs it.
    this.#server.removeAllListeners('newListener')
    this.#server.on('request', (request: unknown, response: unknown) => this.#onHttp1(request, response))
    this.#server.on('stream', (stream, headers) => this.#onHttp2(stream, headers))
    this.#server.on('secureConnection', (socket) => this.#onSocket(socket))
    this.#server.on('session', (session) => this.#onSession(session))
    this.#server.on('tlsClientError', (error) => this.#log('debug', 'TLS handshake failed', { error: error.message }))
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

  /** Takes no more connections, ends the watches, and gives the requests under way `graceMs` to be answered. */
  async close(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
    })
    this.#isClosing = true
    for (const exchange of this.#streaming) exchange.close()
    if (this.#exchanges.size > 0) await this.#answered(graceMs)
    for (const session of this.#sessions) session.close()
    // An idle HTTP/1.1 connection and a session with nothing open have nothing to lose.
    for (const socket of this.#sockets) socket.destroySoon()
    await closed
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.close(0)
  }

  #onSocket(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #onSession(session: ServerHttp2Session): void {
    this.#sessions.add(session)
    session.on('close', () => this.#sessions.delete(session))
    session.on('error', (error) => this.#log('debug', 'connection failed', { error: error.message }))
  }

  #onHttp2(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on('error', (error) => this.#log('debug', 'stream failed', { error: error.message }))
    const outgoing: Outgoing = {
      writable: stream,
      takesBody: headers[':method'] !== 'HEAD',
      writeHead: (status, more) => stream.respond({ ':status': status, ...copyHeaders(more) }),
      flushHead: () => undefined,
    }
    const method = headers[':method'] ?? ''
    const exchange = this.#begin(headers[':path'] ?? '', { method, headers, readable: stream, outgoing })
    // The client may go on sending a body that nobody wants: the stream is taken from it.
    stream.on('finish', () => exchange?.isOverlong && stream.close(constants.NGHTTP2_NO_ERROR))
    stream.on('close', () => this.#end(exchange))
  }

  #onHttp1(request: unknown, response: unknown): void {
    if (!(request instanceof IncomingMessage) || !(response instanceof ServerResponse)) return
    request.on('error', (error) => this.#log('debug', 'request failed', { error: error.message }))
    const outgoing: Outgoing = {
      writable: response,
      takesBody: request.method !== 'HEAD',
      writeHead: (status, headers) => response.writeHead(status, copyHeaders(headers)),
      flushHead: () => response.flushHeaders(),
    }
    // As Go's server, which says nothing of what is usual.
    response.removeHeader('connection')
    const { method = '', headers, url = '' } = request
    const exchange = this.#begin(url, { method, headers, readable: request, outgoing })
    response.on('close', () => this.#end(exchange))
  }

  #begin(target: string, incoming: Incoming): Exchange | undefined {
    const read = readTarget(target)
    if (read === undefined) {
      this.#own(respond(incoming.outgoing, unreadable()), incoming.outgoing)
      return undefined
    }
    const exchange = new Exchange(read, incoming)
    this.#exchanges.add(exchange)
    this.#own(this.#answer(exchange), incoming.outgoing)
    return exchange
  }

  async #answer(exchange: Exchange): Promise<void> {
    const response = await this.#handler(exchange)
    if ('stream' in response) {
      this.#streaming.add(exchange)
      if (this.#isClosing) exchange.close()
    }
    await respond(exchange.outgoing, response)
  }

  /** The handler answers every failure itself, so what fails here is the answer on its way: there is nobody left to tell. */
  #own(answering: Promise<void>, { writable }: Outgoing): void {
    answering.catch((error: unknown) => {
      this.#log('error', 'an answer could not be written', { error: String(error) })
      writable.destroy()
    })
  }

  #end(exchange: Exchange | undefined): void {
    if (exchange === undefined) return
    exchange.close()
    this.#exchanges.delete(exchange)
    this.#streaming.delete(exchange)
    if (this.#exchanges.size === 0) this.#idle?.()
  }
}

/** Node's type of headers wants lists that it could change. */
function copyHeaders(headers: Headers): { [name: string]: string | string[] } {
  const copy: { [name: string]: string | string[] } = {}
  for (const [name, value] of Object.entries(headers)) copy[name] = typeof value === 'string' ? value : [...value]
  return copy
}

function unreadable(): ApiResponse {
  const error = unreadableRequest()
  const headers = { 'content-type': 'text/plain; charset=utf-8' }
  return { status: error.code, headers, body: Buffer.from(error.message) }
}
