/**
 * One request and its response on a socket. HTTP/1.1 and HTTP/2 share this class. The order of
 * events is: request received, body read on demand, response written, exchange closed. Values that
 * few requests need (the query, a signal, the certificate) are created on demand.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { bodyTooLarge, noMemory } from '../../api/errors.ts'
import type { IsIdentityHeader } from '../../api/identity-headers.ts'
import type {
  ApiRequest,
  Headers,
  HoldResult,
  InFlightSlot,
  PeerCertificate,
} from '../../api/request.ts'
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
 * Estimated memory use of a write, as a multiple of the size of its body. The body is decoded to
 * one or two objects, which are then validated, compared and encoded again.
 */
const BODY_HELD_TIMES = 10
/**
 * Requests that use at most this amount of memory count as small. A part of the budget is reserved
 * for them. A request with a body of 64 KB is charged this amount.
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
  /** Whether the request target could be parsed. */
  isReadable = true
  /** Position of this exchange in an IndexedSet. */
  index = -1
  /** Whether the handler has reported that the request is unauthenticated. */
  isUnauthenticated = false
  /**
   * The slot of flow control that a long response occupies. It is released when the client has
   * received the whole response.
   */
  inFlightPlace: InFlightSlot | undefined
  /**
   * When the listener last found that the client was not stalled, and the client's progress at that
   * time. A client is stalled if data waits for it but it has read almost nothing.
   */
  stalledSinceMs = 0
  progressSeen = -Infinity
  /** The client's progress at the last check. Undefined before the first check. */
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
  /**
   * Bytes that the request needs but that are not charged, because a request is charged at most
   * `requestMax` bytes.
   */
  #uncountedBytes = 0
  #isBeingHandled = false
  /** How much of `#heldBytes` was reserved by `holdUnsent`. */
  #unsentBytes = 0
  /** How much of `#heldBytes` is for a body that the handler has not begun to read. */
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
  /** Whether the handler has written the whole response. Parts of it may still be unsent. */
  abstract readonly isAnswered: boolean
  /** Whether the client has not yet read all bytes that were written. */
  abstract readonly isWriting: boolean
  /** Number of bytes that the client has read. */
  abstract readonly progress: number
  /**
   * Number of bytes of a short response that wait because the client's flow control window is full.
   * Always 0 for HTTP/1.1, whose connections count these bytes themselves.
   */
  abstract readonly leftBytes: number
  /**
   * Size of the request headers if they are large and no other code reserves memory for them.
   * Otherwise 0.
   */
  abstract readonly largeHeadBytes: number
  protected abstract readonly bodySource: BodySource
  abstract writeHead(status: number, headers: Headers, body: BodyForm): void
  abstract flushHead(): void
  abstract write(parts: readonly Buffer[], onTaken: () => void): boolean
  abstract end(parts?: readonly Buffer[]): void
  abstract endWith(trailers: Headers): void
  /**
   * Ends the exchange before the response is complete, by resetting the stream or closing the
   * connection.
   */
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
   * Whether the client accepts gzip. As in kube-apiserver, an element of the header must be exactly
   * `gzip`, without a quality value.
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

  /** Called when the socket is closed, and for streaming responses also when the server stops. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#onClose?.()
    // After a complete response, aborting the signal has no effect and only costs time.
    if (this.isAnswered) return
    this.#onGone?.()
    this.#controller?.abort()
  }

  /**
   * Discards the request headers when the response begins. They are not needed any more. They can
   * be large, and a slow client can make the response take very long.
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

  /**
   * Sets the client whose share of the budget is charged. Called when the user of the request is
   * known.
   */
  heldBy(holder: Holder): void {
    this.#budget?.give(this.#heldBytes, this.#holder)
    this.#holder = holder
    this.#budget?.takeAnyway(this.#heldBytes, holder)
  }

  /**
   * Reserves bytes of the shared budget until `release` is called. Returns false if too few bytes
   * are available. Also returns false if the exchange has ended, because the bytes would never be
   * released.
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
   * Reserves memory for an object that the request needs as a whole. A client without other
   * reservations may exceed its share of the budget for this object. At most `requestMax` bytes are
   * charged.
   */
  holdObject(bytes: number): HoldResult {
    if (this.#budget === undefined) return 'held'
    if (this.#isClosed) return 'busy'
    const ownBytes = this.#heldBytes
    if (ownBytes + this.#uncountedBytes + bytes > this.#budget.neededBytesMax) return 'too-large'
    const counted = Math.min(bytes, Math.max(0, this.#budget.requestMax - ownBytes))
    if (!this.#budget.take(counted, { holder: this.#holder, isSmall: false, ownBytes }))
      return 'busy'
    this.#heldBytes += counted
    this.#uncountedBytes += bytes - counted
    return 'held'
  }

  /**
   * Does the same as `hold`, but replaces the bytes that the previous call of this method reserved.
   */
  holdUnsent(bytes: number): boolean {
    this.#budget?.give(this.#unsentBytes, this.#holder)
    this.#heldBytes -= this.#unsentBytes
    this.#unsentBytes = 0
    if (!this.hold(bytes)) return false
    this.#unsentBytes = this.#budget === undefined ? 0 : bytes
    return true
  }

  /**
   * Reserves memory for a part of the body that arrives while the request is queued. If the budget
   * is exhausted, drops the body and returns false.
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
   * Reserves bytes even if the budget is exhausted. Use this for memory that must not be refused,
   * such as the response to a completed write.
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
    this.#uncountedBytes = 0
    this.#unsentBytes = 0
    this.#unreadBytes = 0
  }

  /**
   * Whether the handler is processing the request. Until it is done, the memory of the request is
   * in use, even if its client disconnects.
   */
  get isBeingHandled(): boolean {
    return this.#isBeingHandled
  }

  beginHandling(): void {
    this.#isBeingHandled = true
  }

  /**
   * Called when the handler is done. The memory of the body and of the decoded objects can then be
   * freed.
   */
  endHandling(): void {
    this.#isBeingHandled = false
    this.release()
  }

  /**
   * Whether the client sends a body. Also true if the body was dropped, because the request must
   * not be forwarded as if it had no body.
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
    // Release the reservation for the undecoded body. The following code reserves memory for the
    // decoded objects, which includes the body.
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
    // Reserve memory only for bytes that have arrived. Otherwise a client could reserve much memory
    // with a large Content-Length alone.
    const hasRoom = (bytes: number): boolean => this.hold(bytes * BODY_HELD_TIMES)
    return readBody(this.bodySource, { ...this.#limits, hasRoom })
  }
}
