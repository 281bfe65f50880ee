/**
 * The heads of HTTP/1.1 requests that have not come to their end: what anybody can send before authentication counts to the memory that all
 * connections share for large headers, as with HTTP/2. Node's parser keeps them and says nothing of how much it has, so the bytes are counted
 * as they come.
 */
import type { TLSSocket } from 'node:tls'
import { type HeaderMemory, LARGE_HEADER_BYTES } from '../http2/header-memory.ts'

export class Http1Heads {
  readonly #socket: TLSSocket
  readonly #memory: HeaderMemory
  /** Whether what comes belongs to a request that has begun. */
  readonly #isBody: () => boolean
  #bytes = 0
  #heldBytes = 0

  /** To be made when Node's server has the socket: it reads the socket itself until somebody else listens too. */
  constructor(socket: TLSSocket, memory: HeaderMemory, isBody: () => boolean) {
    this.#socket = socket
    this.#memory = memory
    this.#isBody = isBody
    socket.on('data', this.#onData)
    socket.on('close', () => this.end())
  }

  /** The request is answered: the next head begins. */
  end(): void {
    this.#memory.give(this.#heldBytes)
    this.#bytes = this.#heldBytes = 0
  }

  /** The socket is somebody else's from now on. */
  leave(): void {
    this.#socket.off('data', this.#onData)
    this.end()
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isBody()) return
    this.#bytes += chunk.length
    if (this.#bytes <= LARGE_HEADER_BYTES) return
    if (!this.#memory.take(this.#bytes - this.#heldBytes)) return void this.#socket.destroy()
    this.#heldBytes = this.#bytes
  }
}
