/** Pools HTTP/1.1 connections between requests. */
import { Agent } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { type OnConnectionCreated, hand } from '../../lib/net/dialed-tls.ts'

/** Time after which an unused connection is closed, as in Go's client. */
export const IDLE_MS = 90_000
/**
 * Maximum number of connections to one address, so that clients cannot cause an unlimited number of
 * connections. Each connection serves one request at a time. The maximum is higher than the number
 * of requests that the server handles concurrently.
 */
const CONNECTIONS_MAX = 4096
/** Maximum number of unused connections that stay open, as in Go's client. */
const FREE_MAX = 25

export type Connect = (protocols: readonly string[], signal: AbortSignal) => Promise<TLSSocket>

export class TlsAgent extends Agent {
  readonly #connect: Connect
  /** An unused connection that was opened to find out which protocol the server supports. */
  #first: TLSSocket | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(open: Connect) {
    super({
      keepAlive: true,
      timeout: IDLE_MS,
      maxSockets: CONNECTIONS_MAX,
      maxFreeSockets: FREE_MAX,
    })
    this.#connect = open
  }

  get isUnused(): boolean {
    const hasNone = this.#first === undefined && Object.keys(this.sockets).length === 0
    return hasNone && Object.keys(this.freeSockets).length === 0
  }

  /**
   * Provides an open connection for the next request. The connection might have been opened for
   * another request, which was aborted.
   */
  offer(socket: TLSSocket): void {
    const forget = (): void => {
      if (this.#first === socket) this.#takeFirst()
    }
    this.#first = socket.once('close', forget).on('error', forget)
    this.#idle = setTimeout(() => this.#takeFirst()?.destroy(), IDLE_MS).unref()
  }

  /** Closes all unused connections now, and other connections as soon as they are unused. */
  retire(): void {
    this.maxFreeSockets = 0
    this.#first?.destroy()
    for (const sockets of Object.values(this.freeSockets))
      for (const socket of sockets ?? []) socket.destroy()
  }

  override createConnection(_options: unknown, done?: OnConnectionCreated): undefined {
    hand(this.#open(), done)
    return undefined
  }

  async #open(): Promise<TLSSocket> {
    return this.#takeFirst() ?? this.#connect(['http/1.1'], new AbortController().signal)
  }

  #takeFirst(): TLSSocket | undefined {
    clearTimeout(this.#idle)
    const first = this.#first
    this.#first = undefined
    return first
  }
}
