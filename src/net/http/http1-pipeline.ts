/**
 * Serves pipelined requests one after the other, as Go's server does. An HTTP/1.1 client sends such
 * requests without waiting for earlier responses (RFC 9112, section 9.3.2). While a request waits,
 * the socket is not read. Node's parser still parses all bytes that have arrived, which may be
 * hundreds of requests. If more requests wait than an HTTP/2 connection can have streams, the
 * connection is closed.
 */
import type { TLSSocket } from 'node:tls'
import { Deque } from '../../lib/collections/deque.ts'
import type { Limits } from './limits.ts'

export class Http1Pipeline {
  readonly #socket: TLSSocket
  readonly #requestsMax: number
  /** The requests in order. The first one is being served. */
  readonly #begins = new Deque<() => void>()
  #isClosed = false

  /**
   * Create this object after Node's HTTP server has received the socket. The 'data' listener of
   * this object then runs after Node's parser, which resumes the socket after each request, and can
   * pause the socket again.
   */
  constructor(socket: TLSSocket, { streamsMax }: Limits) {
    this.#socket = socket
    this.#requestsMax = streamsMax
    socket.on('data', this.#onData)
  }

  /** Number of requests whose response is not complete. */
  get length(): number {
    return this.#begins.length
  }

  add(begin: () => void): void {
    if (this.#isClosed) return
    if (this.#begins.length === this.#requestsMax) return void this.#socket.destroy()
    this.#begins.push(begin)
    if (this.#begins.length === 1) begin()
  }

  /** Called when the first request of the queue is complete. Starts the next one. */
  next(): void {
    this.#begins.shift()
    if (this.#isClosed || this.#socket.destroyed) return
    if (this.#begins.length <= 1) this.#socket.resume()
    this.#begins.at(0)?.()
  }

  /** Stops starting requests. Queued requests are dropped. */
  close(): void {
    this.#isClosed = true
  }

  /** Called before the socket switches to another protocol. */
  leave(): void {
    this.#socket.off('data', this.#onData)
  }

  readonly #onData = (): void => {
    if (this.#isClosed || this.#begins.length > 1) this.#socket.pause()
  }
}
