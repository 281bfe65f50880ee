/**
 * The current requests of all connections. The scheduler decides when a request starts. The handler
 * then processes it, and its response is written back. Watches and other unbounded responses are
 * tracked, because they must be ended when the server stops.
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
   * Whether flow control in the handler decides when writes start. The scheduler of this class then
   * gives a write the same weight as a read, because the first step of a write only authenticates
   * its sender.
   */
  readonly isWeighedLater: boolean
  /** Memory budget for all requests and responses together. */
  readonly budget: ByteBudget
  /**
   * Whether to close the HTTP/2 connection of the next request, so that its client can connect to
   * another server.
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
  /** Exchanges with an unbounded response: watches in `#watching`, all others in `#streaming`. */
  readonly #watching = new Set<Exchange>()
  readonly #streaming = new Set<Exchange>()
  /** Whether new unbounded responses and tunnels are refused. */
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
   * Called when the socket or stream of the exchange is closed. Returns false if the exchange had
   * ended before.
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
   * Aborts responses that their clients do not read. Otherwise a client could keep a response in
   * memory forever, for example by never opening its window for the last byte or by opening it one
   * byte at a time.
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
      // The handler turns every failure into a response, so this error means that the response
      // could not be written. The client cannot be informed.
      const level = error instanceof CutOffAnswer ? 'info' : 'error'
      this.#log(level, 'a response could not be written', { error: String(error) })
      exchange.endHandling()
      exchange.abort(true)
    }
  }

  /**
   * Makes the HTTP/2 connection of an unauthenticated request accept no further requests, as
   * kube-apiserver does (CVE-2023-44487).
   */
  #boundUnauthenticated(exchange: Exchange): void {
    exchange.isUnauthenticated = true
    if (this.#endsUnauthenticated) exchange.connection.http2?.close()
  }

  /**
   * Tracks the response of an exchange that is still open. `end` stops tracking it and releases its
   * in-flight slot.
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
 * A client that reads a long response more slowly than this counts as slow. Producing and
 * encrypting this much data costs little, and even a busy server sends more to each client.
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
 * Memory of an exchange apart from its bytes: the exchange, its stream, and the objects that they
 * reference.
 */
const LEFT_BYTES = 4 * 1024
/**
 * Memory of a list that is produced while it is sent: one chunk, and the bytes that the socket has
 * not accepted yet.
 */
const LAZY_BYTES = 256 * 1024
/**
 * Memory of a watch: a position in a ring buffer that all watches share. The watch itself reserves
 * memory for frames that its client has not read yet.
 */
const WATCH_BYTES = 4 * 1024
/**
 * Factor for the memory that a watch uses for its path, query and audit ID. The watch stores the
 * names in its path in several forms, its audit ID, and the text of its last audit event. A
 * namespace in the path can be a megabyte long.
 */
const GIVEN_HELD_TIMES = 8

/**
 * Reserves memory for a response. Only the response to a read can be refused at this point, because
 * the client of a write must learn that the write was applied.
 */
function held(exchange: Exchange, response: ApiResponse): ApiResponse {
  const bytes = heldBytes(response, exchange)
  if (isGet(exchange.method)) return exchange.hold(bytes) ? response : withoutRoom(response)
  exchange.holdAnyway(bytes)
  return response
}

const isGet = (method: string): boolean => method === 'GET' || method === 'HEAD'

/**
 * Reserves memory for a short response that its client does not read. A client that never opens its
 * windows can cause one such response for each stream of each of its connections.
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
  // Memory for a short response is reserved only if the client does not read it immediately
  // (`holdLeft`).
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
