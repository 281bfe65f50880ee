/**
 * One request and its answer on a socket, the same for HTTP/1.1 and HTTP/2. Its life: begun, body read if anybody asks for
 * it, answered, closed. What few requests need (the query, a signal, the certificate) is made only when asked for.
 */
import type { X509Certificate } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { constants, type ServerHttp2Stream } from 'node:http2'
import type { Readable, Writable } from 'node:stream'
import { bodyTooLarge } from '../api/errors.ts'
import type { ApiRequest, Headers } from '../api/request.ts'
import { readBody } from './body.ts'
import type { Connection } from './connection.ts'
import type { Limits } from './limits.ts'
import type { Outgoing } from './outgoing.ts'
import { parseQuery, type Target } from './target.ts'

export abstract class Exchange implements ApiRequest, Outgoing {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly connection: Connection
  readonly peerCertificate: () => X509Certificate | undefined
  isWriting = false
  writes = 0
  /** Of the listener's roster. */
  place = -1
  /** Since when nothing has been written, as far as the listener has looked. */
  stalledSinceMs = 0
  writesSeen = -1
  abstract readonly writable: Writable
  protected abstract readonly readable: Readable
  readonly #limits: Limits
  readonly #queryText: string
  #query: URLSearchParams | undefined
  #controller: AbortController | undefined
  #onClose: (() => void) | undefined
  #isClosed = false
  #body: Promise<Buffer> | undefined

  constructor(head: Head) {
    this.method = head.method
    this.path = head.target.path
    this.#queryText = head.target.query
    this.headers = head.headers
    this.connection = head.connection
    this.peerCertificate = head.connection.peerCertificate
    this.#limits = head.limits
  }

  abstract writeHead(status: number, headers: Headers, length: number | undefined): void
  abstract flushHead(): void
  /** Takes the connection's half of the request from the client. */
  abstract abort(): void

  get takesBody(): boolean {
    return this.method !== 'HEAD'
  }

  get remoteAddress(): string {
    return this.connection.remoteAddress
  }

  get query(): URLSearchParams {
    this.#query ??= parseQuery(this.#queryText)
    return this.#query
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isClosed) this.#controller.abort()
    return this.#controller.signal
  }

  /** As kube-apiserver reads it: an element that is exactly `gzip`, without a quality. */
  takesGzip(): boolean {
    const accepted = this.headers['accept-encoding']
    if (typeof accepted !== 'string' || !accepted.includes('gzip')) return false
    return accepted.split(',').some((element) => element.trim() === 'gzip')
  }

  onClose(close: () => void): void {
    if (this.#isClosed) close()
    else this.#onClose = close
  }

  /** The socket is gone, or the server stops and the answer is a stream: nobody reads it any more. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#onClose?.()
    // After a whole answer nobody listens any more, and an abort is not cheap. (A stream of HTTP/2 can close before it says
    // that it has finished.)
    if (!this.writable.writableEnded) this.#controller?.abort()
  }

  /** The same promise for whoever asks again. */
  readonly body = (): Promise<Buffer> => {
    this.#body ??= this.#read()
    return this.#body
  }

  #read(): Promise<Buffer> {
    const { bodyBytesMax } = this.#limits
    if (Number(this.headers['content-length'] ?? 0) > bodyBytesMax) return Promise.reject(bodyTooLarge(bodyBytesMax))
    return readBody(this.readable, this.#limits)
  }
}

export type Head = {
  readonly method: string
  readonly target: Target
  readonly headers: IncomingHttpHeaders
  readonly connection: Connection
  readonly limits: Limits
}

export class Http2Exchange extends Exchange {
  readonly writable: ServerHttp2Stream
  protected readonly readable: ServerHttp2Stream

  constructor(head: Head, stream: ServerHttp2Stream) {
    super(head)
    this.writable = stream
    this.readable = stream
  }

  writeHead(status: number, headers: Headers, length: number | undefined): void {
    const all: { [name: string]: string | string[] | number } = { ':status': status }
    copyHeaders(headers, all)
    if (length !== undefined) all['content-length'] = length
    // The client may have given up while the answer was made: Node would take that for our mistake.
    if (!this.writable.closed && !this.writable.destroyed) this.writable.respond(all)
  }

  flushHead(): void {
    // Sent with respond() already.
  }

  abort(): void {
    this.writable.close(constants.NGHTTP2_CANCEL)
  }

  /** The client may go on sending a body that nobody wants: the stream is taken from it. */
  readonly dropRest = (): void => {
    if (!this.writable.readableEnded) this.writable.close(constants.NGHTTP2_NO_ERROR)
  }
}

export class Http1Exchange extends Exchange {
  readonly writable: ServerResponse
  protected readonly readable: IncomingMessage
  readonly #isClosing: () => boolean

  constructor(
    head: Head,
    half: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly isClosing: () => boolean },
  ) {
    super(head)
    this.writable = half.response
    this.readable = half.request
    this.#isClosing = half.isClosing
  }

  writeHead(status: number, headers: Headers, length: number | undefined): void {
    const all: { [name: string]: string | string[] | number } = {}
    copyHeaders(headers, all)
    if (length !== undefined) all['content-length'] = length
    // A body that nobody has read is in the way of the next request.
    const isRestUnread = !this.readable.complete && !this.readable.readableFlowing
    if (this.#isClosing() || (isRestUnread && hasBody(this.headers))) all['connection'] = 'close'
    this.writable.writeHead(status, all)
  }

  flushHead(): void {
    this.writable.flushHeaders()
  }

  abort(): void {
    this.writable.destroy()
  }
}

const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Node's type of headers wants lists that it could change. */
function copyHeaders(headers: Headers, into: { [name: string]: string | string[] | number }): void {
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) into[name] = typeof value === 'string' ? value : [...value]
  }
}
