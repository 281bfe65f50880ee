/**
 * The endpoints of one server or cluster, with one connection to each endpoint in use. All calls go
 * to one healthy endpoint until it fails, and then to the next healthy one. A failed endpoint is
 * avoided for a while. If there is no other endpoint, calls wait until the failed one can be
 * retried.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '../../lib/time/clock.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Dial } from '../../lib/net/dial.ts'
import { GrpcConnection } from './connection.ts'
import { GrpcError, type StatusError } from './errors.ts'
import { unixScheme } from './unix-socket.ts'
import type { TlsOptions } from './tls.ts'

const BACKOFF_FIRST_MS = 50
/**
 * Maximum time for which a failed endpoint is avoided. It is short, because an endpoint that has
 * recovered is not used until this time is over.
 */
const BACKOFF_MS_MAX = 1000

export type EndpointsOptions = {
  readonly urls: readonly string[]
  readonly tls: TlsOptions | undefined
  /**
   * Opens connections to endpoints, for example through a proxy. If undefined, connections are
   * direct.
   */
  readonly dial?: Dial | undefined
  readonly clock: Clock
  readonly log: Log
  /**
   * Creates the error of a failed call from the response. By default, the error depends only on the
   * status code.
   */
  readonly statusError?: StatusError | undefined
  readonly firstStreamId?: number | undefined
}

type Endpoint = {
  readonly url: string
  connection: GrpcConnection | undefined
  failures: number
  avoidUntilMs: number
}

export class Endpoints {
  readonly #endpoints: readonly Endpoint[]
  readonly #tls: TlsOptions | undefined
  readonly #dial: Dial | undefined
  readonly #clock: Clock
  readonly #log: Log
  readonly #statusError: StatusError | undefined
  readonly #firstStreamId: number | undefined
  // All connections that are not closed, including those that are draining.
  readonly #connections = new Set<GrpcConnection>()
  /**
   * Runs a function in the asynchronous context in which this object was created. Connections are
   * opened in this context, because they outlive the call that needs them first.
   */
  readonly #outside = AsyncLocalStorage.snapshot()
  #current: Endpoint
  #isClosed = false

  constructor(options: EndpointsOptions) {
    this.#endpoints = options.urls.map((url) => ({
      url: checkedUrl(url),
      connection: undefined,
      failures: 0,
      avoidUntilMs: 0,
    }))
    const [first] = this.#endpoints
    if (first === undefined) throw new GrpcError('InvalidArgument', 'no endpoint is given')
    this.#current = first
    this.#tls = options.tls
    this.#dial = options.dial
    this.#clock = options.clock
    this.#log = options.log
    this.#statusError = options.statusError
    this.#firstStreamId = options.firstStreamId
  }

  get count(): number {
    return this.#endpoints.length
  }

  /**
   * Returns the open connection that calls currently use. Undefined if there is none. Unlike
   * `connect`, it is synchronous, so calls try it first.
   */
  current(): GrpcConnection | undefined {
    const { connection, avoidUntilMs } = this.#current
    if (connection === undefined || !connection.isOpen) return undefined
    if (avoidUntilMs > 0 && this.count > 1 && avoidUntilMs > this.#clock.monotonicMs())
      return undefined
    return connection
  }

  /**
   * Returns an open connection to the best endpoint. Avoids the endpoint `away` if another endpoint
   * has not failed recently. If the promise is rejected, nothing was sent, and the next attempt
   * uses another endpoint.
   */
  async connect(away?: string): Promise<GrpcConnection> {
    if (this.#isClosed) throw new GrpcError('Cancelled', 'the client is closed')
    const endpoint = this.#best(away)
    const waitMs = endpoint.avoidUntilMs - this.#clock.monotonicMs()
    if (waitMs > 0 && endpoint.connection?.isOpen !== true) {
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      if (this.#isClosed) throw new GrpcError('Cancelled', 'the client is closed')
    }
    const connection = this.#connectionOf(endpoint)
    try {
      await connection.opened
    } catch (error) {
      if (endpoint.connection === connection) {
        endpoint.connection = undefined
        this.#avoid(endpoint)
      }
      throw error
    }
    if (endpoint.connection === connection) endpoint.failures = 0
    if (away === undefined) this.#current = endpoint
    return connection
  }

  /**
   * Records that a call to the endpoint failed, so that other endpoints are preferred for a while.
   */
  reportFailure(url: string | undefined): void {
    const endpoint = this.#endpoints.find((one) => one.url === url)
    if (endpoint !== undefined && endpoint.avoidUntilMs <= this.#clock.monotonicMs())
      this.#avoid(endpoint)
  }

  /**
   * Makes new calls use new connections, for which the certificate files are read again. Running
   * calls finish on the old connections.
   */
  reload(): void {
    for (const endpoint of this.#endpoints) {
      endpoint.connection?.drain()
      endpoint.connection = undefined
    }
  }

  close(): void {
    this.#isClosed = true
    for (const connection of this.#connections)
      connection.destroy(new Error('the client is closed'))
  }

  #connectionOf(endpoint: Endpoint): GrpcConnection {
    const known = endpoint.connection
    if (known !== undefined && known.isUsable) return known
    const connection = this.#outside(() => this.#open(endpoint))
    this.#connections.add(connection)
    endpoint.connection = connection
    return connection
  }

  #open(endpoint: Endpoint): GrpcConnection {
    const connection: GrpcConnection = new GrpcConnection({
      endpoint: endpoint.url,
      tls: this.#tls,
      dial: this.#dial,
      log: this.#log,
      statusError: this.#statusError,
      firstStreamId: this.#firstStreamId,
      onTrouble: () => this.reportFailure(endpoint.url),
      onClosed: () => this.#connections.delete(connection),
    })
    return connection
  }

  /**
   * Returns the first endpoint, starting with the current one, that has not failed recently. If all
   * have failed, returns the endpoint that can be retried first.
   */
  #best(away: string | undefined): Endpoint {
    const nowMs = this.#clock.monotonicMs()
    const from = this.#endpoints.indexOf(this.#current)
    let best = this.#current
    let bestCost = Number.POSITIVE_INFINITY
    for (let step = 0; step < this.count; step++) {
      const endpoint = this.#endpoints[(from + step) % this.count]
      if (endpoint === undefined) continue
      const avoidMs = Math.max(0, endpoint.avoidUntilMs - nowMs)
      const cost = avoidMs + (endpoint.url === away ? 1 : 0)
      if (cost < bestCost) {
        best = endpoint
        bestCost = cost
      }
    }
    return best
  }

  #avoid(endpoint: Endpoint): void {
    const backoffMs = Math.min(BACKOFF_MS_MAX, BACKOFF_FIRST_MS * 2 ** endpoint.failures)
    endpoint.failures++
    endpoint.avoidUntilMs = this.#clock.monotonicMs() + backoffMs
    this.#log('debug', 'a gRPC endpoint failed and is avoided for a while', {
      endpoint: endpoint.url,
      backoffMs,
    })
  }
}

function checkedUrl(url: string): string {
  if (url.startsWith(unixScheme)) return url
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
    throw new GrpcError(
      'InvalidArgument',
      `the endpoint ${JSON.stringify(url)} is not an http or https URL`,
    )
  }
  if (parsed.pathname !== '/' || parsed.search !== '' || parsed.username !== '') {
    throw new GrpcError(
      'InvalidArgument',
      `the endpoint ${JSON.stringify(url)} has more than a host and a port`,
    )
  }
  return parsed.origin
}
