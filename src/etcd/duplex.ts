/**
 * A call with many messages in either direction on an open connection. Messages are handed on synchronously, in order;
 * the end is told exactly once.
 */
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2'
import { FrameReader } from './codec/frames.ts'
import type { Connection } from './connection.ts'
import { EtcdError } from './errors.ts'
import { notGrpc, statusFailure, unreadable } from './status.ts'

export type DuplexOptions = {
  readonly headers: readonly string[]
  /** May throw: the call then ends with that as its error. */
  readonly onMessage: (message: Buffer) => void
  /** No error: etcd ended the call in order, or we did. */
  readonly onEnd: (error: EtcdError | undefined) => void
}

/** What is sent and not yet taken by the connection; beyond this the peer does not read, and the call is given up. */
const UNSENT_BYTES_MAX = 16 * 1024 * 1024

export class Duplex {
  readonly #connection: Connection
  readonly #options: DuplexOptions
  readonly #stream: ClientHttp2Stream
  readonly #frames: FrameReader
  readonly #stopListening: () => void
  #isEnded = false

  /** The connection's stream must have been acquired; it is released when the stream has ended. Throws as `request` does. */
  constructor(connection: Connection, options: DuplexOptions) {
    this.#connection = connection
    this.#options = options
    // Several messages can be in one chunk, and the first may be the reason to close.
    this.#frames = new FrameReader((message) => {
      if (!this.#isEnded) options.onMessage(message)
    })
    try {
      this.#stream = connection.request(options.headers)
    } catch (error) {
      connection.release()
      throw error
    }
    const stream = this.#stream
    stream.on('response', this.#onResponse)
    stream.on('data', this.#onData)
    stream.on('trailers', this.#onStatus)
    // The 'close' that follows says all that is needed.
    stream.on('error', () => undefined)
    stream.on('close', this.#onClose)
    this.#stopListening = connection.onLeave((error) => this.#giveUp(error))
  }

  send(frame: Buffer): void {
    if (this.#isEnded) return
    this.#stream.write(frame)
    if (this.#stream.writableLength > UNSENT_BYTES_MAX) {
      this.#giveUp(this.#error('ResourceExhausted', `${this.#connection.endpoint} does not read what is sent`))
    }
  }

  /** No more is sent; answers may still come. */
  finish(): void {
    if (!this.#isEnded) this.#stream.end()
  }

  /** Ends the call now, in order. */
  close(): void {
    this.#giveUp(undefined)
  }

  /** Ends the call now and tells nobody. */
  abandon(): void {
    this.#isEnded = true
    this.#stopListening()
    this.#stream.close(constants.NGHTTP2_CANCEL)
  }

  /** Stops and goes on receiving: etcd is held up by its flow-control window. */
  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }

  readonly #onResponse = (headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void => {
    this.#connection.heard = true
    if (headers['grpc-status'] !== undefined) this.#onStatus(headers)
    else if (headers[':status'] !== 200) this.#giveUp(notGrpc(headers, this.#connection.endpoint))
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isEnded) return
    this.#connection.heard = true
    try {
      this.#frames.push(chunk)
    } catch (error) {
      this.#giveUp(unreadable(error, this.#connection.endpoint))
    }
  }

  #status: EtcdError | 'ok' | undefined

  /** Messages may still be on their way to us when the status is there: the end is told at 'close'. */
  readonly #onStatus = (headers: IncomingHttpHeaders): void => {
    this.#status = statusFailure(headers, this.#connection.endpoint) ?? 'ok'
  }

  readonly #onClose = (): void => {
    this.#connection.release()
    if (this.#status === 'ok' && this.#frames.isPartial) this.#end(this.#error('Internal', 'a message is cut off'))
    else if (this.#status === 'ok') this.#end(undefined)
    else {
      const isRefused = this.#stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
      this.#end(this.#status ?? this.#connection.streamLost(this.#stream, isRefused))
    }
  }

  #giveUp(error: EtcdError | undefined): void {
    if (this.#isEnded) return
    this.#end(error)
    this.#stream.close(constants.NGHTTP2_CANCEL)
  }

  #end(error: EtcdError | undefined): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#stopListening()
    this.#options.onEnd(error)
  }

  #error(code: EtcdError['code'], message: string): EtcdError {
    return new EtcdError(code, message, { ambiguous: true, endpoint: this.#connection.endpoint })
  }
}
