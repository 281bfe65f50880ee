/**
 * The heads of HTTP/1.1 requests, which clients send before authentication, count towards the
 * memory that all connections share for large headers, as with HTTP/2: from the first byte until
 * the request is answered. Node's parser does not tell how much of a head it holds, so the bytes
 * are counted as they come.
 */
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { type HeaderMemory, LARGE_HEADER_BYTES } from '../http2/header-memory.ts'

export class Http1Heads {
  readonly #socket: TLSSocket
  readonly #memory: HeaderMemory
  /** The request whose head came last. */
  #newest: IncomingMessage | undefined
  /** The value of `#newest` when the last bytes came, and whether its body was incomplete then. */
  #seen: IncomingMessage | undefined
  #isInBody = false
  /** The bytes of the incomplete head, and how many of them are taken from the shared memory. */
  #bytes = 0
  #heldBytes = 0
  /** The bytes taken for heads whose requests are being answered. */
  #answeringBytes = 0
  #isInUse = false

  /**
   * To be created after Node's server has got the socket: it reads from the handle itself until
   * there is another 'data' listener.
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

  /** A head is complete. */
  began(request: IncomingMessage | undefined): void {
    this.#newest = request
    this.#answeringBytes += this.#heldBytes
    this.#bytes = this.#heldBytes = 0
  }

  /** A request is being handled: its head is in memory even if its client has gone. */
  set isInUse(isInUse: boolean) {
    this.#isInUse = isInUse
    if (!isInUse && this.#socket.destroyed) this.answered()
  }

  /** All requests that have begun are answered. */
  answered(): void {
    if (this.#isInUse) return
    this.#memory.give(this.#answeringBytes)
    this.#answeringBytes = 0
  }

  /**
   * The socket is used for another protocol from now on; the head that asked for it stays for as
   * long.
   */
  leave(): void {
    this.#socket.off('data', this.#onData)
    this.began(undefined)
  }

  /** Called after Node's parser has got the bytes. */
  readonly #onData = (chunk: Buffer): void => {
    const request = this.#newest
    // Where a head or a body ends, the rest of the chunk may be the next head: that is not counted,
    // and less than 64 KB.
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
