/**
 * A gRPC client. It makes calls by method name, chooses an endpoint, adds a token and a deadline,
 * and retries where this is safe. Reads are retried whenever the endpoint could not serve them.
 * Writes are retried only if they were definitely not applied (errors.ts), so that nothing is
 * written twice.
 *
 * channel.ts      this file: calls and streams by method name
 * endpoints.ts    which endpoint is used, and when to switch to another
 * connection.ts   one HTTP/2 connection: opening, stream limit, pings, GOAWAY
 * unary.ts        one request with one response
 * duplex.ts       a bidirectional stream; stream-handle.ts buffers it until it is connected
 * codec/          protobuf and gRPC frames
 * status.ts       how a response reports a failure
 * errors.ts       GrpcError, and which failures leave the outcome of a write unknown
 */
import type { Clock } from '../../lib/time/clock.ts'
import type { WireReader } from './codec/reader.ts'
import type { GrpcConnection } from './connection.ts'
import { Duplex } from './duplex.ts'
import type { Endpoints } from './endpoints.ts'
import { GrpcError } from './errors.ts'
import { StreamHandle, type StreamOptions } from './stream-handle.ts'
import { callUnary } from './unary.ts'
import { unixScheme } from './unix-socket.ts'
import { acquire, cancelled, pause, within } from './within.ts'

export type Method<T> = {
  /** Path of the service and method, such as '/etcdserverpb.KV/Range'. */
  readonly path: string
  readonly read: (reader: WireReader) => T
  /**
   * Whether the method only reads. If so, a call can be repeated even if its outcome is unknown.
   */
  readonly isRead: boolean
  /**
   * Whether an etcd member without a leader should reject the call immediately, so that the call is
   * retried on another member.
   */
  readonly requireLeader: boolean
  /** Whether calls are sent without a token, such as the call that fetches the token. */
  readonly isTokenless?: boolean
}

export type CallOptions = {
  readonly signal?: AbortSignal | undefined
  /** Deadline of the whole call, including connecting and retries. */
  readonly timeoutMs?: number | undefined
  /** Headers of this call, in addition to the headers that all calls have. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Supplies the token that calls send, and fetches a new token if the server refuses it. */
export type TokenSource = {
  readonly current: () => string | undefined
  /** Whether a token must be fetched before the next call. */
  readonly isNeeded: () => boolean
  readonly renew: () => Promise<void>
  /** Discards the token, so that a new one is fetched before the next call. */
  readonly drop: () => void
  readonly isRefusal: (message: string) => boolean
}

/** A check that a connection must pass before a stream with `needsCheck` uses it. */
export type ConnectionCheck = {
  /** The gRPC method that `check` calls. It determines the headers that are passed to `check`. */
  readonly method: { readonly path: string; readonly requireLeader: boolean }
  /** Rejects if the connection cannot be used. */
  readonly check: (
    connection: GrpcConnection,
    headers: readonly string[],
    timeoutMs: number,
  ) => Promise<void>
}

export type ChannelOptions = {
  readonly endpoints: Endpoints
  readonly clock: Clock
  readonly timeoutMs: number
  readonly connectionCheck?: ConnectionCheck
}

/**
 * Maximum number of rounds in which a call tries all endpoints. The pauses between the rounds are
 * 50, 100 and 200 ms.
 */
const ROUNDS_MAX = 4
const ROUND_PAUSE_FIRST_MS = 50
/**
 * Maximum timeout. The gRPC timeout header has at most eight digits, which allow about 27 hours.
 */
const TIMEOUT_MS_MAX = 99_999_999

type CachedHeaders = {
  readonly endpoint: string
  readonly timeoutMs: number
  readonly token: string | undefined
  readonly headers: readonly string[]
}

type ConnectOptions = {
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  readonly away?: string | undefined
  readonly method?: { readonly isTokenless?: boolean }
}

export class Channel {
  readonly #endpoints: Endpoints
  readonly #clock: Clock
  readonly #timeoutMs: number
  // The headers that each method sent in its last call. The next call usually has the same headers,
  // so they need not be built again.
  readonly #headers = new Map<object, CachedHeaders>()
  readonly #connectionCheck: ConnectionCheck | undefined
  #tokens: TokenSource | undefined
  #lastStreamEndpoint: string | undefined

  constructor(options: ChannelOptions) {
    this.#endpoints = options.endpoints
    this.#clock = options.clock
    this.#timeoutMs = options.timeoutMs
    this.#connectionCheck = options.connectionCheck
  }

  /**
   * Call this with the reason why etcd canceled a watch. If the reason is that etcd refused the
   * token, a new token is fetched before the next stream.
   */
  recordReason(reason: string): void {
    if (this.#tokens?.isRefusal(reason) === true) this.#tokens.drop()
  }

  /** Makes all later calls send a token, except for methods with `isTokenless`. */
  authenticateWith(tokens: TokenSource): void {
    this.#tokens = tokens
  }

  async unary<T>(method: Method<T>, frame: Buffer, call: CallOptions = noOptions): Promise<T> {
    const timeoutMs = Math.min(TIMEOUT_MS_MAX, Math.ceil(call.timeoutMs ?? this.#timeoutMs))
    const deadlineMs = this.#clock.monotonicMs() + timeoutMs
    let leftMs = timeoutMs
    let isTokenRenewed = false
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(method, frame, leftMs, call)
      } catch (error) {
        if (!(error instanceof GrpcError)) throw error
        leftMs = Math.ceil(deadlineMs - this.#clock.monotonicMs())
        const isRefused = !isTokenRenewed && this.#tokens?.isRefusal(error.message) === true
        const pauseMs = isRefused ? 0 : this.#pauseBeforeRetry(error, method.isRead, attempt)
        if (pauseMs === undefined || leftMs <= pauseMs) throw error
        if (isRefused) {
          isTokenRenewed = true
          this.#tokens?.drop()
        }
        if (pauseMs > 0) await within(pause(pauseMs), leftMs, call.signal)
        leftMs -= pauseMs
      }
    }
  }

  /**
   * Opens a stream. Messages sent before the stream is connected are queued. A failure to connect
   * is reported to `onEnd`. Streams are not reopened here, because only the caller knows where to
   * continue.
   */
  stream(options: StreamOptions): StreamHandle {
    return new StreamHandle(options, () => this.#openStream(options))
  }

  async #openStream(options: StreamOptions): Promise<Duplex> {
    const away = options.away === true ? this.#lastStreamEndpoint : undefined
    for (let attempt = 1; ; attempt++) {
      try {
        const connection = await this.#connect({
          timeoutMs: this.#timeoutMs,
          signal: undefined,
          away,
        })
        this.#lastStreamEndpoint = connection.endpoint
        if (options.needsCheck === true) await this.#check(connection)
        const headers = headersOf(connection.endpoint, options, undefined, this.#tokens?.current())
        return new Duplex(connection, {
          headers,
          onMessage: options.onMessage,
          onEnd: options.onEnd,
        })
      } catch (error) {
        // The connection could not serve the stream, and nothing was sent. Retry until each
        // endpoint has been tried once.
        if (
          !(error instanceof GrpcError && error.isUnavailable) ||
          attempt >= this.#endpoints.count
        )
          throw error
      }
    }
  }

  /**
   * Checks a connection on which the caller has reserved a stream. Releases the stream if the
   * connection cannot be used.
   */
  async #check(connection: GrpcConnection): Promise<void> {
    const { method, check } = this.#connectionCheck ?? {}
    if (method === undefined || check === undefined) return
    const headers = headersOf(connection.endpoint, method, this.#timeoutMs, this.#tokens?.current())
    try {
      await check(connection, headers, this.#timeoutMs)
    } catch (error) {
      connection.release()
      this.#endpoints.reportFailure(connection.endpoint)
      throw error
    }
  }

  async #attempt<T>(
    method: Method<T>,
    frame: Buffer,
    timeoutMs: number,
    call: CallOptions,
  ): Promise<T> {
    const { signal } = call
    if (signal?.aborted === true) throw cancelled(signal)
    let connection = this.#isTokenMissing(method) ? undefined : this.#endpoints.current()
    let leftMs = timeoutMs
    if (connection === undefined || !connection.tryAcquire()) {
      const startedMs = this.#clock.monotonicMs()
      connection = await this.#connect({ timeoutMs, signal, method })
      leftMs = Math.max(1, Math.ceil(timeoutMs - (this.#clock.monotonicMs() - startedMs)))
    }
    const usual = this.#headersFor(method, connection.endpoint, leftMs)
    const headers =
      call.headers === undefined ? usual : [...usual, ...Object.entries(call.headers).flat()]
    return callUnary(connection, { headers, frame, read: method.read, timeoutMs: leftMs, signal })
  }

  /**
   * Returns an open connection on which a stream is reserved for the caller. Fetches a token first
   * if one is needed.
   */
  async #connect(options: ConnectOptions): Promise<GrpcConnection> {
    const { timeoutMs, signal } = options
    const startedMs = this.#clock.monotonicMs()
    const left = (): number => timeoutMs - (this.#clock.monotonicMs() - startedMs)
    if (this.#isTokenMissing(options.method))
      await within(this.#tokens?.renew() ?? done, left(), signal)
    const connection = await within(this.#endpoints.connect(options.away), left(), signal)
    if (!connection.tryAcquire()) await acquire(connection, left(), signal)
    return connection
  }

  #isTokenMissing(method: { readonly isTokenless?: boolean } | undefined): boolean {
    return this.#tokens !== undefined && method?.isTokenless !== true && this.#tokens.isNeeded()
  }

  #headersFor<T>(method: Method<T>, endpoint: string, timeoutMs: number): readonly string[] {
    const token = method.isTokenless === true ? undefined : this.#tokens?.current()
    const known = this.#headers.get(method)
    if (known?.timeoutMs === timeoutMs && known.endpoint === endpoint && known.token === token)
      return known.headers
    const headers = headersOf(endpoint, method, timeoutMs, token)
    this.#headers.set(method, { endpoint, timeoutMs, token, headers })
    return headers
  }

  /** Returns the pause before the next attempt, or undefined if the call must not be retried. */
  #pauseBeforeRetry(error: GrpcError, isRead: boolean, attempt: number): number | undefined {
    if (!error.isUnavailable) return undefined
    this.#endpoints.reportFailure(error.endpoint)
    if (error.ambiguous && !isRead) return undefined
    if (attempt >= ROUNDS_MAX * this.#endpoints.count) return undefined
    if (attempt % this.#endpoints.count !== 0) return 0
    return ROUND_PAUSE_FIRST_MS * 2 ** (attempt / this.#endpoints.count - 1)
  }
}

const noOptions: CallOptions = {}
/** The authority of requests over a Unix domain socket, which has no host name. */
const local = { protocol: 'http:', host: 'localhost' }
const done = Promise.resolve()

function headersOf(
  endpoint: string,
  method: { readonly path: string; readonly requireLeader: boolean },
  timeoutMs: number | undefined,
  token: string | undefined,
): readonly string[] {
  const { protocol, host } = endpoint.startsWith(unixScheme) ? local : new URL(endpoint)
  const headers = [
    ':method',
    'POST',
    ':scheme',
    protocol.slice(0, -1),
    ':authority',
    host,
    ':path',
    method.path,
  ]
  headers.push('te', 'trailers', 'content-type', 'application/grpc')
  if (timeoutMs !== undefined) headers.push('grpc-timeout', `${timeoutMs}m`)
  if (method.requireLeader) headers.push('hasleader', 'true')
  if (token !== undefined) headers.push('authorization', token)
  return headers
}
