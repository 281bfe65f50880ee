/**
 * Requests that an HTTP/1.1 client sends without waiting for the answers before (pipelining, RFC
 * 9112, section 9.3.2) are served one after the other, as by Go's server. While one waits nothing
 * more is read. Node's parser reads the bytes that have come to their end, which may be hundreds of
 * requests: a client that makes more wait than an HTTP/2 connection may have streams is
 * disconnected.
 */
import type { TLSSocket } from 'node:tls'
import { Deque } from '../../lib/collections/deque.ts'
import type { Limits } from './limits.ts'

export class Http1Pipeline {
  readonly #socket: TLSSocket
  readonly #requestsMax: number
  /** The first is being served. */
  readonly #begins = new Deque<() => void>()
  #isClosed = false

  /**
   * To be created after Node's server has got the socket: its parser resumes the socket after each
   * request.
   */
  constructor(socket: TLSSocket, { streamsMax }: Limits) {
    this.#socket = socket
    this.#requestsMax = streamsMax
    socket.on('data', this.#onData)
  }

  /** How many requests are not answered. */
  get length(): number {
    return this.#begins.length
  }

  add(begin: () => void): void {
    if (this.#isClosed) return
    if (this.#begins.length === this.#requestsMax) return void this.#socket.destroy()
    this.#begins.push(begin)
    if (this.#begins.length === 1) begin()
  }

  /** The request that was being served is answered. */
  next(): void {
    this.#begins.shift()
    if (this.#isClosed || this.#socket.destroyed) return
    if (this.#begins.length <= 1) this.#socket.resume()
    this.#begins.at(0)?.()
  }

  /** No further request is served, nor are those that wait. */
  close(): void {
    this.#isClosed = true
  }

  /** The socket is used for another protocol from now on. */
  leave(): void {
    this.#socket.off('data', this.#onData)
  }

  readonly #onData = (): void => {
    if (this.#isClosed || this.#begins.length > 1) this.#socket.pause()
  }
}
