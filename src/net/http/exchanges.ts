/**
 * The current requests of all connections. A scheduler decides when a request starts. The handler
 * then processes it, and the response is written. Responses without an end, such as watches, are
 * recorded, because the server must end them when it stops.
 */
import { Duplex } from 'node:stream'
import { CutOffAnswer, overloaded, unreadableRequest } from '../../api/errors.ts'
import type { IsIdentityHeader } from '../../api/identity-headers.ts'
import { type ApiResponse, type Handler, SHORT_BODY_BYTES_MAX } from '../../api/request.ts'
import { readMethods } from '../../api/verbs.ts'
import type { ByteBudget } from '../../lib/bytes/byte-budget.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { IndexedSet } from '../../lib/collections/indexed-set.ts'
import { startWeight, TickScheduler } from '../../lib/scheduling/tick-scheduler.ts'
import { drain } from './drain.ts'
import type { Exchange } from './exchange.ts'
import { type Limits, stallMsMaxOf } from './limits.ts'
import { leave, type Responder } from './respond.ts'
import { UpgradeExchange } from './upgrade-exchange.ts'

export type ExchangesOptions = {
  readonly handler: Handler
  readonly responder: Responder
  readonly log: Log
  readonly limits: Limits
  readonly takesCbor: boolean
  readonly isIdentityHeader: IsIdentityHeader
  readonly endsUnauthenticated: boolean
  /**
   * Whether the flow control of the handler decides when writes start. If so, this class gives
   * writes the same weight as reads, because their first step only authenticates the client.
   */
  readonly isWeighedLater: boolean
  /** Memory budget for all requests and responses together. */
  readonly budget: ByteBudget
  /**
   * Called for each request. Returns whether to close its HTTP/2 connection, so that its client
   * connects again, perhaps to another server.
   */
  readonly sendsAway: () => boolean
}

export class Exchanges {
  readonly #handler: Handler
  readonly #responder: Responder
  readonly #log: Log
  readonly #limits: Limits
  readonly #takesCbor: boolean
  readonly #isIdentityHeader: IsIdentityHeader
  readonly #endsUnauthenticated: boolean
  readonly #budget: ByteBudget
  readonly #sendsAway: () => boolean
  readonly #open = new IndexedSet<Exchange>()
  readonly #scheduler = new TickScheduler()
  readonly #isWeighedLater: boolean
  /**
   * Exchanges whose responses have no end of their own: watches in `#watching`, all others in
   * `#streaming`.
   */
  readonly #watching = new Set<Exchange>()
  readonly #streaming = new Set<Exchange>()
  /** Whether the server is stopping. If so, new watches, other streams and tunnels are refused. */
  #isClosing = false
  #lookedMs = 0
  #onEnd: ((exchange: Exchange) => void) | undefined

  constructor(options: ExchangesOptions) {
    this.#handler = options.handler
    this.#responder = options.responder
    this.#log = options.log
    this.#limits = options.limits
    this.#takesCbor = options.takesCbor
    this.#isIdentityHeader = options.isIdentityHeader
    this.#endsUnauthenticated = options.endsUnauthenticated
    this.#budget = options.budget
    this.#isWeighedLater = options.isWeighedLater
    this.#sendsAway = options.sendsAway
  }

  get size(): number {
    return this.#open.size
  }

  begin(exchange: Exchange, isReadable: boolean): void {
    exchange.connection.open++
    exchange.takesCbor = this.#takesCbor
    exchange.isIdentityHeader = this.#isIdentityHeader
    exchange.isReadable = isReadable
    exchange.holdWithin(this.#budget)
    this.#open.add(exchange)
    const weight = startWeight(!this.#isWeighedLater && !readMethods.has(exchange.method))
    if (this.#scheduler.tryStart(weight)) void this.#answer(exchange)
    else this.#startLater(exchange, weight)
  }

  #startLater(exchange: Exchange, weight: number): void {
    const start = (): boolean => {
      if (!this.#open.has(exchange)) return false
      void this.#answer(exchange)
      return true
    }
    this.#scheduler.enqueue({ flow: exchange.connection, weight, start })
  }

  /**
   * Called when the socket or stream of the exchange is closed. Returns false if this method was
   * already called for the exchange.
   */
  end(exchange: Exchange): boolean {
    if (!this.#open.delete(exchange)) return false
    const { connection } = exchange
    connection.open--
    if (connection.open === 0) {
      connection.idleSinceMs = performance.now()
      if ((connection.pipeline?.length ?? 0) <= 1) connection.heads?.answered()
    }
    this.#watching.delete(exchange)
    this.#streaming.delete(exchange)
    exchange.inFlightPlace?.leave()
    exchange.inFlightPlace = undefined
    if (!exchange.isBeingHandled) exchange.release()
    exchange.close()
    this.#onEnd?.(exchange)
    return true
  }

  /** Ends unbounded responses: watches spread over `watchGraceMs`, the others immediately. */
  async close(watchGraceMs: number): Promise<void> {
    this.#isClosing = true
    for (const exchange of this.#streaming) exchange.close()
    await drain(this.#watching, watchGraceMs)
  }

  /**
   * Ends the watches, spread over `watchGraceMs`. Resolves when all requests that are open now are
   * complete. Later requests are served, but the promise does not wait for them.
   */
  async drain(watchGraceMs: number): Promise<void> {
    const left = new Set(this.#open.members())
    const answered = new Promise<void>((resolve) => {
      this.#onEnd = (exchange) => {
        left.delete(exchange)
        if (left.size === 0) resolve()
      }
      if (left.size === 0) resolve()
    })
    this.#isClosing = true
    for (const exchange of this.#streaming) exchange.close()
    await drain(this.#watching, watchGraceMs)
    await answered
  }

  destroy(): void {
    for (const exchange of this.#open.members()) exchange.close()
  }

  /**
   * Aborts responses that clients do not read. Otherwise a client could keep a response in memory
   * forever. It could leave the last byte unread, or read one byte at a time.
   */
  endStalled(nowMs: number): void {
    const sinceMs = nowMs - this.#lookedMs
    this.#lookedMs = nowMs
    for (const exchange of this.#open.members()) {
      if (exchange.inFlightPlace !== undefined) recordSlow(exchange, sinceMs)
      const stallMsMax = stallMsMaxOf(this.#limits, exchange)
      const taken = exchange.progress - exchange.progressSeen
      if (
        !exchange.isWriting ||
        taken >= (this.#limits.takenBytesPerSecondMin * stallMsMax) / 1000
      ) {
        exchange.stalledSinceMs = nowMs
        exchange.progressSeen = exchange.progress
      }
      if (nowMs - exchange.stalledSinceMs >= stallMsMax) exchange.abort()
    }
  }

  /** Handles a request and writes its response. Never rejects. */
  async #answer(exchange: Exchange): Promise<void> {
    try {
      exchange.beginHandling()
      const made = exchange.isReadable ? await this.#handler(exchange) : unreadable(exchange)
      exchange.endHandling()
      const response = this.#open.has(exchange) ? held(exchange, made) : made
      if (response.isUnauthenticated === true) this.#boundUnauthenticated(exchange)
      else exchange.connection.isAuthenticated = true
      if (this.#open.has(exchange)) this.#keep(exchange, response)
      else response.place?.leave()
      if (response.endsConnection === true) exchange.connection.close()
      else if (exchange.connection.http2 !== undefined && this.#sendsAway())
        exchange.connection.http2.close()
      if (this.#isClosing && !hasOwnEnd(response)) exchange.close()
      if ('tunnel' in response) return this.#handOver(exchange, response)
      // Read the method before the response headers are written, because writing them discards the
      // request headers.
      const isRead = isGet(exchange.method)
      const responding = this.#responder.respond(exchange, response)
      if (responding !== undefined) await responding
      else if (exchange.leftBytes > 0 && exchange.holdsNothing) holdLeft(exchange, isRead)
    } catch (error) {
      // The handler converts all failures to responses. So this error means that the response could
      // not be written, and the client cannot be informed.
      const level = error instanceof CutOffAnswer ? 'info' : 'error'
      this.#log(level, 'a response could not be written', { error: String(error) })
      exchange.endHandling()
      exchange.abort(true)
    }
  }

  /**
   * Makes an HTTP/2 connection accept no further requests after an unauthenticated one, as in
   * kube-apiserver (CVE-2023-44487).
   */
  #boundUnauthenticated(exchange: Exchange): void {
    exchange.isUnauthenticated = true
    if (this.#endsUnauthenticated) exchange.connection.http2?.close()
  }

  /**
   * Records the response of an exchange that is still open, until `end` is called. `end` also
   * releases the slot of flow control.
   */
  #keep(exchange: Exchange, response: ApiResponse): void {
    exchange.inFlightPlace = response.place
    if (hasOwnEnd(response)) return
    if ('frames' in response || ('tunnel' in response && response.close !== undefined))
      this.#watching.add(exchange)
    else this.#streaming.add(exchange)
  }

  #handOver(exchange: Exchange, response: Extract<ApiResponse, { tunnel: unknown }>): void {
    if (exchange instanceof UpgradeExchange && !exchange.isGone && !this.#isClosing)
      return exchange.handOver(response)
    exchange.abort()
    // Pass the tunnel a new Duplex that is destroyed, so that the tunnel receives `close` and
    // closes its other end. The socket itself may already be closed, and would then not emit
    // `close` again.
    response.tunnel(new Duplex().destroy())
  }
}

const hasOwnEnd = (response: ApiResponse): boolean =>
  'body' in response || ('frames' in response && response.isFinite === true)

/**
 * Clients that read a long response more slowly than this count as slow. Even a busy server
 * produces and encrypts data faster than this.
 */
const SLOW_BYTES_PER_SECOND = 64 * 1024

function recordSlow(exchange: Exchange, sinceMs: number): void {
  const { progress, takenSeen } = exchange
  exchange.takenSeen = progress
  if (takenSeen === undefined || !exchange.isWriting) return
  if (((progress - takenSeen) * 1000) / sinceMs < SLOW_BYTES_PER_SECOND)
    exchange.inFlightPlace?.stall?.()
}

/**
 * Memory of an exchange without its data: the object itself, its stream, and other objects that
 * they use.
 */
const LEFT_BYTES = 4 * 1024
/**
 * Memory of a list that is produced while it is sent: one chunk of the list, and data that the
 * socket has not sent yet.
 */
const LAZY_BYTES = 256 * 1024
/**
 * Memory of a watch. It is small, because all watches share a ring buffer of events. Memory for
 * events that the client has not read yet is reserved separately.
 */
const WATCH_BYTES = 4 * 1024
/**
 * A watch keeps several copies of its path, query and audit ID, for example in its audit events. So
 * it needs this multiple of their size, which can be a megabyte if the path contains a long
 * namespace.
 */
const GIVEN_HELD_TIMES = 8

/**
 * Reserves memory for a response. Only the response to a read can be refused here. The client of a
 * write must get its response, because the write was already applied.
 */
function held(exchange: Exchange, response: ApiResponse): ApiResponse {
  const bytes = heldBytes(response, exchange)
  if (isGet(exchange.method)) return exchange.hold(bytes) ? response : withoutRoom(response)
  exchange.holdAnyway(bytes)
  return response
}

const isGet = (method: string): boolean => method === 'GET' || method === 'HEAD'

/**
 * Reserves memory for a short response that the client has not read. A client that keeps its flow
 * control windows closed can cause such a response in each stream.
 */
function holdLeft(exchange: Exchange, isRead: boolean): void {
  const bytes = exchange.leftBytes + LEFT_BYTES
  if (!isRead) exchange.holdAnyway(bytes)
  else if (!exchange.hold(bytes)) exchange.abort()
}

function heldBytes(response: ApiResponse, { path, rawQuery, largeHeadBytes }: Exchange): number {
  if ('frames' in response) {
    const given = path.length + rawQuery.length + (response.headers['audit-id']?.length ?? 0)
    return (response.heldBytes ?? WATCH_BYTES) + GIVEN_HELD_TIMES * given + largeHeadBytes
  }
  if (!('body' in response)) return 0
  const { body } = response
  if (!Buffer.isBuffer(body) && 'chunks' in body)
    return Math.min(body.length, LAZY_BYTES) + (body.heldBytes ?? 0)
  let bytes = 0
  if (Buffer.isBuffer(body)) bytes = body.length
  else for (const part of body) bytes += part.length
  // No memory is reserved for a short response that the client reads immediately. `holdLeft`
  // reserves it for all others.
  return bytes <= SHORT_BODY_BYTES_MAX ? 0 : bytes
}

/** Returns the error that is sent if there is not enough memory for the response. */
function withoutRoom(response: ApiResponse): ApiResponse {
  if ('frames' in response) response.frames.close()
  else if ('stream' in response) void leave(response.stream)
  else if ('body' in response && 'chunks' in response.body) response.body.close?.()
  const { place, isUnauthenticated = false, headers } = response
  const { code, message, retryAfterSeconds } = overloaded(1)
  const auditId = headers['audit-id']
  return {
    status: code,
    headers: {
      ...(auditId === undefined ? {} : { 'audit-id': auditId }),
      'cache-control': 'no-cache, private',
      'content-type': 'text/plain; charset=utf-8',
      'retry-after': `${retryAfterSeconds}`,
    },
    body: Buffer.from(message),
    place,
    isUnauthenticated,
  }
}

/**
 * Returns the response to a request whose target cannot be parsed. No credentials are read from
 * such a request.
 */
function unreadable({ connection }: Exchange): ApiResponse {
  const { code, message } = unreadableRequest()
  const headers = { 'content-type': 'text/plain; charset=utf-8' }
  return {
    status: code,
    headers,
    body: Buffer.from(message),
    isUnauthenticated: !connection.isAuthenticated,
  }
}
