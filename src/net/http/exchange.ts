/**
 * One request and its answer on a socket, the same for HTTP/1.1 and HTTP/2. Its life: begun, body
 * read on demand, answered, closed. What few requests need (the query, a signal, the certificate)
 * is created only on demand.
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
 * A body becomes an object, often two of them, which is validated, printed, compared: what a write
 * holds, as a multiple of what was sent.
 */
const BODY_HELD_TIMES = 10
/** A request up to this has a reserve: that of a body of 64 KB. */
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
  /** Whether its target could be parsed. */
  isReadable = true
  /** Its index in the IndexedSet of open exchanges. */
  index = -1
  /** The request is not authenticated, as far as is known. */
  isUnauthenticated = false
  /** The in-flight place of a long answer, kept until the client has received it. */
  inFlightPlace: InFlightSlot | undefined
  /**
   * Since when the client has read next to nothing, as of the listener's last check, and what it
   * had read then.
   */
  stalledSinceMs = 0
  progressSeen = -Infinity
  /** What its client had taken at the last look; undefined: it was not looked at yet. */
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
  /** Of what is held, bytes of the body that nobody reads yet. */
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
  /** The whole answer has been handed over, though it may not be sent yet. */
  abstract readonly isAnswered: boolean
  /** Bytes of the answer wait for the client to read them. */
  abstract readonly isWriting: boolean
  /** Bytes that the client has read. */
  abstract readonly progress: number
  /**
   * Bytes of a short answer that the client's window does not take. With HTTP/1.1 there is one
   * answer at a time: it counts with its connection.
   */
  abstract readonly leftBytes: number
  /** The size of its head if that is large, and is not counted elsewhere. */
  abstract readonly largeHeadBytes: number
  protected abstract readonly bodySource: BodySource
  abstract writeHead(status: number, headers: Headers, body: BodyForm): void
  abstract flushHead(): void
  abstract write(parts: readonly Buffer[], onTaken: () => void): boolean
  abstract end(parts?: readonly Buffer[]): void
  abstract endWith(trailers: Headers): void
  /** Ends the exchange without a (whole) answer: resets the stream, or closes the connection. */
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

  /** As kube-apiserver reads it: an element that is exactly `gzip`, without a quality. */
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

  /** Called when the socket is closed, or when the server stops and the answer is a stream. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#onClose?.()
    // After a whole answer nothing listens to the signal any more, and an abort is not cheap.
    if (this.isAnswered) return
    this.#onGone?.()
    this.#controller?.abort()
  }

  /**
   * Once the answer has begun the request is not read any more. It may be large, and a client can
   * keep an answer waiting.
   */
  protected releaseHead(): void {
    if (this.takesBody) this.method = ''
    this.path = ''
    this.rawPath = undefined
    this.headers = noHeaders
    this.#queryText = ''
    this.#query = undefined
  }

  /** What clients can make the server hold is taken from here. */
  holdWithin(budget: ByteBudget): void {
    this.#budget = budget
  }

  /** Called when it is known who sends it. */
  heldBy(holder: Holder): void {
    this.#budget?.give(this.#heldBytes, this.#holder)
    this.#holder = holder
    this.#budget?.takeAnyway(this.#heldBytes, holder)
  }

  /**
   * Takes bytes of the common budget, until `release`. False: there is no room, or the exchange has
   * ended, after which nobody would release them.
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
   * Like `hold`, for an object that the request works on and that cannot be had in pieces: it may
   * be larger than the part of a client that has nothing else, and counts as a part of the budget
   * at most.
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
   * While the request waits for its turn or its seats, what has come of its body is held all the
   * same.
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

  /** For what can no longer be refused: the answer to a write that was done. */
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
   * The handler is at work on it, and has what the request holds in memory even if its client goes
   * away meanwhile.
   */
  get isBeingHandled(): boolean {
    return this.#isBeingHandled
  }

  beginHandling(): void {
    this.#isBeingHandled = true
  }

  /** Body and objects are garbage now. */
  endHandling(): void {
    this.#isBeingHandled = false
    this.release()
  }

  /** Also if it was dropped: whoever forwards the request must not take it for one without. */
  get hasBody(): boolean {
    return this.#hasDroppedBody || this.bodySource.hasBody
  }

  /** All calls return the same promise. */
  body(): Promise<Buffer> {
    this.#body ??= this.#read()
    return this.#body
  }

  pipeBody(take: (chunk: Buffer) => MaybePromise<void>): Promise<void> {
    if (this.#hasDroppedBody) return Promise.reject(noMemory())
    this.#giveUnread()
    return new Promise((resolve, reject) => {
      const onClose = (): void => reject(new Error('the client went away before its body was here'))
      this.bodySource.read({ onData: take, onEnd: resolve, onClose })
    })
  }

  #read(): Promise<Buffer> {
    if (this.#hasDroppedBody) return Promise.reject(noMemory())
    // They count as what becomes of them from here on.
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
    // Bytes are taken as they come: who only says that many will come holds nothing.
    const hasRoom = (bytes: number): boolean => this.hold(bytes * BODY_HELD_TIMES)
    return readBody(this.bodySource, { ...this.#limits, hasRoom })
  }
}
