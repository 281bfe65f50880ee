/**
 * Charges the heads of HTTP/1.1 requests to the memory that all connections share for large
 * headers, as for HTTP/2, because clients send them before authentication. A head is charged from
 * its first byte until its request is complete. Node's parser does not expose how much of a head it
 * holds, so the bytes are counted as they arrive.
 */
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { type HeaderMemory, LARGE_HEADER_BYTES } from '../http2/header-memory.ts'

export class Http1Heads {
  readonly #socket: TLSSocket
  readonly #memory: HeaderMemory
  /** The request whose head arrived last. */
  #newest: IncomingMessage | undefined
  /**
   * The value of `#newest` when the last bytes arrived, and whether its body was incomplete then.
   */
  #seen: IncomingMessage | undefined
  #isInBody = false
  /** Bytes of the incomplete head, and how many of them are reserved in the shared memory. */
  #bytes = 0
  #heldBytes = 0
  /** Bytes reserved for heads whose requests are being served. */
  #answeringBytes = 0
  #isInUse = false

  /**
   * Must be created after Node's server has received the socket, because the server reads from the
   * handle itself until there is another 'data' listener.
   */
  constructor(socket: TLSSocket, memory: HeaderMemory) {
    this.#socket = socket
    this.#memory = memory
    socket.on('data', this.#onData)
    socket.on('close', () => {
      this.began(undefined)
      this.answered()
    })
  }

  /** Called when a head is complete. */
  began(request: IncomingMessage | undefined): void {
    this.#newest = request
    this.#answeringBytes += this.#heldBytes
    this.#bytes = this.#heldBytes = 0
  }

  /**
   * Whether a request is being handled. Its head is then in memory even if its client has
   * disconnected.
   */
  set isInUse(isInUse: boolean) {
    this.#isInUse = isInUse
    if (!isInUse && this.#socket.destroyed) this.answered()
  }

  /** Called when all requests that have begun are complete. */
  answered(): void {
    if (this.#isInUse) return
    this.#memory.give(this.#answeringBytes)
    this.#answeringBytes = 0
  }

  /**
   * Called when the socket is about to carry another protocol. The head of the upgrade request
   * stays in memory for as long as the connection lasts.
   */
  leave(): void {
    this.#socket.off('data', this.#onData)
    this.began(undefined)
  }

  /** Called after Node's parser has received the bytes. */
  readonly #onData = (chunk: Buffer): void => {
    const request = this.#newest
    // If a head or a body ends in this chunk, the rest of the chunk may belong to the next head. It
    // is not counted, and is less than 64 KB.
    const isOfRequest = request !== this.#seen || this.#isInBody
    this.#seen = request
    this.#isInBody = request !== undefined && !request.complete
    if (isOfRequest) return
    this.#bytes += chunk.length
    if (this.#bytes <= LARGE_HEADER_BYTES) return
    if (!this.#memory.take(this.#bytes - this.#heldBytes)) return void this.#socket.destroy()
    this.#heldBytes = this.#bytes
  }
}
