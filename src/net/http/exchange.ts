/**
 * One request and its response on a socket, the same for HTTP/1.1 and HTTP/2. Its life: begun, body
 * read on demand, response written, closed. Parts that few requests need (the query, a signal, the
 * certificate) are created on demand.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { bodyTooLarge, noMemory } from '../../api/errors.ts'
import type { IsIdentityHeader } from '../../api/identity-headers.ts'
import type { ApiRequest, Headers, InFlightSlot, PeerCertificate } from '../../api/request.ts'
import { type ByteBudget, type Holder, unknownHolder } from '../../lib/bytes/byte-budget.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
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

/**
 * Memory that a write holds, as a multiple of its body. The body becomes an object, often two of
 * them, which are validated, printed and compared.
 */
const BODY_HELD_TIMES = 10
/**
 * Requests that hold up to this much may use the reserve of the budget. The amount is that of a 64
 * KB body.
 */
const SMALL_HELD_BYTES = 64 * 1024 * BODY_HELD_TIMES

export abstract class Exchange implements ApiRequest, Outgoing {
  method: string
  path: string
  rawPath: string | undefined
  headers: IncomingHttpHeaders
  readonly connection: Connection
  readonly peerCertificate: () => PeerCertificate | undefined
  takesCbor = false
  isIdentityHeader: IsIdentityHeader | undefined
  /** Whether the target could be parsed. */
  isReadable = true
  /** Its index in the IndexedSet of open exchanges. */
  index = -1
  /** Whether the request is unauthenticated, as far as is known. */
  isUnauthenticated = false
  /** The in-flight slot of a long response, kept until the client has received it. */
  inFlightPlace: InFlightSlot | undefined
  /**
   * Time since which the client has read next to nothing, as of the listener's last check, and its
   * progress at that time.
   */
  stalledSinceMs = 0
  progressSeen = -Infinity
  /** Progress of the client at the last check, or undefined before the first one. */
  takenSeen: number | undefined
  readonly #limits: Limits
  #queryText: string
  #query: URLSearchParams | undefined
  #controller: AbortController | undefined
  #onClose: (() => void) | undefined
  #onGone: (() => void) | undefined
  #isClosed = false
  #body: Promise<Buffer> | undefined
  #budget: ByteBudget | undefined
  #holder = unknownHolder
  #heldBytes = 0
  #isBeingHandled = false
  /** The part of `#heldBytes` that belongs to a body which is not being read yet. */
  #unreadBytes = 0
  #hasDroppedBody = false

  constructor(head: Head) {
    this.method = head.method
    this.path = head.target.path
    this.rawPath = head.target.rawPath
    this.#queryText = head.target.query
    this.headers = head.headers
    this.connection = head.connection
    this.peerCertificate = head.connection.peerCertificate
    this.#limits = head.limits
  }

  abstract readonly isGone: boolean
  /** Whether the whole response has been handed over, though it may not be sent yet. */
  abstract readonly isAnswered: boolean
  /** Whether bytes of the response wait for the client to read them. */
  abstract readonly isWriting: boolean
  /** Number of bytes that the client has read. */
  abstract readonly progress: number
  /**
   * Bytes of a short response that do not fit into the client's window. HTTP/1.1 has one response
   * at a time, which counts as a part of its connection.
   */
  abstract readonly leftBytes: number
  /** Size of the request's head if it is large and not counted elsewhere. */
  abstract readonly largeHeadBytes: number
  protected abstract readonly bodySource: BodySource
  abstract writeHead(status: number, headers: Headers, body: BodyForm): void
  abstract flushHead(): void
  abstract write(parts: readonly Buffer[], onTaken: () => void): boolean
  abstract end(parts?: readonly Buffer[]): void
  abstract endWith(trailers: Headers): void
  /** Ends the exchange without a complete response: resets the stream, or closes the connection. */
  abstract abort(isFault?: boolean): void

  get takesBody(): boolean {
    return this.method !== 'HEAD'
  }

  get remoteAddress(): string {
    return this.connection.remoteAddress
  }

  get remotePort(): number {
    return this.connection.socket.remotePort ?? 0
  }

  get protocol(): 'HTTP/1.1' | 'HTTP/2.0' {
    return this.connection.http2 === undefined ? 'HTTP/1.1' : 'HTTP/2.0'
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

  /**
   * Whether the client accepts gzip. As in kube-apiserver, this requires an element that is exactly
   * `gzip`, without a quality.
   */
  takesGzip(): boolean {
    const accepted = this.headers['accept-encoding']
    return typeof accepted === 'string' && /(^|,)\s*gzip\s*(,|$)/.test(accepted)
  }

  onGone(listener: (() => void) | undefined): void {
    this.#onGone = listener
    if (this.#isClosed) listener?.()
  }

  onClose(close: () => void): void {
    if (this.#isClosed) close()
    else this.#onClose = close
  }

  /** Called when the socket is closed, or when the server stops and the response is a stream. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#onClose?.()
    // After a complete response nothing listens to the signal, and an abort is not cheap.
    if (this.isAnswered) return
    this.#onGone?.()
    this.#controller?.abort()
  }

  /**
   * Discards the head once the response begins, because nothing reads it after that. It may be
   * large, and a client can keep a response waiting.
   */
  protected releaseHead(): void {
    if (this.takesBody) this.method = ''
    this.path = ''
    this.rawPath = undefined
    this.headers = noHeaders
    this.#queryText = ''
    this.#query = undefined
  }

  /** Sets the budget from which memory for this request is reserved. */
  holdWithin(budget: ByteBudget): void {
    this.#budget = budget
  }

  /** Sets the holder. Called when the user of the request is known. */
  heldBy(holder: Holder): void {
    this.#budget?.give(this.#heldBytes, this.#holder)
    this.#holder = holder
    this.#budget?.takeAnyway(this.#heldBytes, holder)
  }

  /**
   * Reserves bytes of the shared budget until `release`. Returns false if there is no room, or if
   * the exchange has ended, because then nothing would release the bytes.
   */
  hold(bytes: number): boolean {
    if (this.#budget === undefined) return true
    if (this.#isClosed) return false
    const isSmall = this.#heldBytes + bytes <= SMALL_HELD_BYTES
    if (!this.#budget.take(bytes, { holder: this.#holder, isSmall })) return false
    this.#heldBytes += bytes
    return true
  }

  /**
   * Like `hold`, for an object that the request processes as a whole. The object may exceed the
   * share of its client if the client holds nothing else. It is charged with at most `requestMax`
   * of the budget.
   */
  holdObject(bytes: number): boolean {
    if (this.#budget === undefined) return true
    if (this.#isClosed) return false
    const ownBytes = this.#heldBytes
    const counted = Math.min(bytes, Math.max(0, this.#budget.requestMax - ownBytes))
    if (!this.#budget.take(counted, { holder: this.#holder, isSmall: false, ownBytes }))
      return false
    this.#heldBytes += counted
    return true
  }

  /**
   * Reserves memory for body bytes that arrive while the request waits for its turn or its seats.
   * If there is no room, the body is dropped and this returns false.
   */
  holdUnread(bytes: number): boolean {
    this.#hasDroppedBody = !this.hold(bytes)
    if (this.#hasDroppedBody) this.#giveUnread()
    else this.#unreadBytes += bytes
    return !this.#hasDroppedBody
  }

  #giveUnread(): void {
    this.#budget?.give(this.#unreadBytes, this.#holder)
    this.#heldBytes -= this.#unreadBytes
    this.#unreadBytes = 0
  }

  /**
   * Reserves bytes even if there is no room, for memory that can no longer be refused, such as the
   * response to a completed write.
   */
  holdAnyway(bytes: number): void {
    this.#budget?.takeAnyway(bytes, this.#holder)
    this.#heldBytes += bytes
  }

  get holdsNothing(): boolean {
    return this.#heldBytes === 0
  }

  release(): void {
    this.#budget?.give(this.#heldBytes, this.#holder)
    this.#heldBytes = 0
    this.#unreadBytes = 0
  }

  /**
   * Whether the handler is processing the request. The memory of the request is then in use even if
   * its client disconnects.
   */
  get isBeingHandled(): boolean {
    return this.#isBeingHandled
  }

  beginHandling(): void {
    this.#isBeingHandled = true
  }

  /** Called when the handler is done. The body and its objects are garbage now. */
  endHandling(): void {
    this.#isBeingHandled = false
    this.release()
  }

  /**
   * Whether the request has a body, even if it was dropped. Code that forwards the request must not
   * take it for a request without a body.
   */
  get hasBody(): boolean {
    return this.#hasDroppedBody || this.bodySource.hasBody
  }

  /** Reads the body. All calls return the same promise. */
  body(): Promise<Buffer> {
    this.#body ??= this.#read()
    return this.#body
  }

  pipeBody(take: (chunk: Buffer) => MaybePromise<void>): Promise<void> {
    if (this.#hasDroppedBody) return Promise.reject(noMemory())
    this.#giveUnread()
    return new Promise((resolve, reject) => {
      const onClose = (): void => reject(new Error('the client left before its body arrived'))
      this.bodySource.read({ onData: take, onEnd: resolve, onClose })
    })
  }

  #read(): Promise<Buffer> {
    if (this.#hasDroppedBody) return Promise.reject(noMemory())
    // From here on, the bytes count as the objects that they become.
    this.#giveUnread()
    const { bodyBytesMax } = this.#limits
    const given = Number(this.headers['content-length'] ?? 0)
    if (given > bodyBytesMax) return Promise.reject(bodyTooLarge(bodyBytesMax))
    const wanted = given * BODY_HELD_TIMES
    const taking = { holder: this.#holder, isSmall: wanted <= SMALL_HELD_BYTES }
    if (this.#budget?.hasRoom(wanted, taking) === false) {
      this.#budget.refused++
      return Promise.reject(noMemory())
    }
    // Reserve bytes as they arrive, so that a large Content-Length alone reserves nothing.
    const hasRoom = (bytes: number): boolean => this.hold(bytes * BODY_HELD_TIMES)
    return readBody(this.bodySource, { ...this.#limits, hasRoom })
  }
}
