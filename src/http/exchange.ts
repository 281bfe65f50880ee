/**
 * One request and its answer on a socket, the same for HTTP/1.1 and HTTP/2. Its life: begun, body read if anybody asks for
 * it, answered, closed. What few requests need (the query, a signal, the certificate) is made only when asked for.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { bodyTooLarge } from '../api/errors.ts'
import type { ApiRequest, Headers, InFlightPlace, PeerCertificate } from '../api/request.ts'
import { type BodySource, readBody } from './body.ts'
import type { Connection } from './connection.ts'
import type { Limits } from './limits.ts'
import type { BodyForm, Outgoing } from './outgoing.ts'
import { parseQuery, type Target } from './target.ts'

export type Head = {
  readonly method: string
  readonly target: Target
  readonly headers: IncomingHttpHeaders
  readonly connection: Connection
  readonly limits: Limits
}

const noHeaders: IncomingHttpHeaders = Object.freeze({})

export abstract class Exchange implements ApiRequest, Outgoing {
  method: string
  path: string
  headers: IncomingHttpHeaders
  readonly connection: Connection
  readonly peerCertificate: () => PeerCertificate | undefined
  takesCbor = false
  /** Its target is one. */
  isReadable = true
  /** Of the roster of `exchanges.ts`. */
  place = -1
  /** Whoever asks has not shown who they are, as far as is known. */
  isUnauthenticated = false
  /** What a long answer keeps until it is with the client. */
  inFlightPlace: InFlightPlace | undefined
  /** Since when next to nothing has been written, as far as the listener has looked, and what had been written then. */
  stalledSinceMs = 0
  progressSeen = -Infinity
  readonly #limits: Limits
  #queryText: string
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

  abstract readonly isGone: boolean
  /** The whole answer has been given, though it may be on its way still. */
  abstract readonly isAnswered: boolean
  /** There are bytes of the answer that the client has not taken. */
  abstract readonly isWriting: boolean
  /** Bytes that the client has taken. */
  abstract readonly progress: number
  protected abstract readonly bodySource: BodySource
  abstract writeHead(status: number, headers: Headers, body: BodyForm): void
  abstract flushHead(): void
  abstract write(parts: readonly Buffer[], onTaken: () => void): boolean
  abstract end(parts?: readonly Buffer[]): void
  /** Takes the request from the client. */
  abstract abort(): void

  get takesBody(): boolean {
    return this.method !== 'HEAD'
  }

  get remoteAddress(): string {
    return this.connection.remoteAddress
  }

  get rawQuery(): string {
    return this.#queryText
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
    return typeof accepted === 'string' && /(^|,)\s*gzip\s*(,|$)/.test(accepted)
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
    // After a whole answer nobody listens any more, and an abort is not cheap.
    if (!this.isAnswered) this.#controller?.abort()
  }

  /** Once the answer has begun nobody reads the request any more, and it may be large: a client can keep an answer waiting. */
  protected releaseHead(): void {
    if (this.takesBody) this.method = ''
    this.path = ''
    this.headers = noHeaders
    this.#queryText = ''
    this.#query = undefined
  }

  /** The same promise for whoever asks again. */
  body(): Promise<Buffer> {
    this.#body ??= this.#read()
    return this.#body
  }

  pipeBody(take: (chunk: Buffer) => void | Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const onClose = (): void => reject(new Error('the client went away before its body was here'))
      this.bodySource.read({ onData: take, onEnd: resolve, onClose })
    })
  }

  #read(): Promise<Buffer> {
    const { bodyBytesMax } = this.#limits
    if (Number(this.headers['content-length'] ?? 0) > bodyBytesMax) return Promise.reject(bodyTooLarge(bodyBytesMax))
    return readBody(this.bodySource, this.#limits)
  }
}
