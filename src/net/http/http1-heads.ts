/**
 * Reserves memory for the headers of HTTP/1.1 requests. The reserved bytes count towards a budget
 * that all connections share, because clients send headers before they are authenticated. HTTP/2
 * connections use the same budget. Bytes are counted as they arrive, because Node's parser does not
 * report how many header bytes it keeps in memory.
 */
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { type HeaderMemory, LARGE_HEADER_BYTES } from '../http2/header-memory.ts'

export class Http1Heads {
  readonly #socket: TLSSocket
  readonly #memory: HeaderMemory
  /** The last request whose headers are complete. */
  #newest: IncomingMessage | undefined
  /**
   * The request that was the last one when the previous chunk arrived, and whether its body was
   * incomplete at that time.
   */
  #seen: IncomingMessage | undefined
  #isInBody = false
  /** Size of the headers that are incomplete, and how many bytes are reserved for them. */
  #bytes = 0
  #heldBytes = 0
  /** Bytes reserved for the headers of requests that are being served. */
  #answeringBytes = 0
  #isInUse = false

  /**
   * Create this object after Node's HTTP server has received the socket. Node's HTTP server
   * bypasses 'data' events until another listener for them is added, as done here.
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

  /** Called when the headers of a request are complete. */
  began(request: IncomingMessage | undefined): void {
    this.#newest = request
    this.#answeringBytes += this.#heldBytes
    this.#bytes = this.#heldBytes = 0
  }

  /**
   * Whether a request is being handled. Its headers are then in memory even if its client has
   * disconnected.
   */
  set isInUse(isInUse: boolean) {
    this.#isInUse = isInUse
    if (!isInUse && this.#socket.destroyed) this.answered()
  }

  /** Called when all requests that have started are complete. */
  answered(): void {
    if (this.#isInUse) return
    this.#memory.give(this.#answeringBytes)
    this.#answeringBytes = 0
  }

  /**
   * Called before the socket switches to another protocol. The headers of the upgrade request stay
   * in memory until the connection closes.
   */
  leave(): void {
    this.#socket.off('data', this.#onData)
    this.began(undefined)
  }

  /** Called after Node's parser has received the bytes. */
  readonly #onData = (chunk: Buffer): void => {
    const request = this.#newest
    // If the headers or the body of a request end in this chunk, the rest of the chunk may belong
    // to the next request. For simplicity, this rest is not counted. It has less than 64 KB.
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
