/**
 * A call with many messages in both directions on an open connection. Messages are delivered
 * synchronously, in order; `onEnd` is called exactly once.
 */
import type { AnswerListener, ClientStream } from '../http2/client-stream.ts'
import type { HeaderField } from '../http2/field.ts'
import { CODE } from '../http2/protocol.ts'
import { MessageFrames } from './codec/frames.ts'
import type { GrpcConnection } from './connection.ts'
import { GrpcError } from './errors.ts'
import { hasStatus, isHttpOk, notGrpc, unreadable } from './status.ts'

export type DuplexOptions = {
  readonly headers: readonly string[]
  /** May throw: the call then ends with that as its error. */
  readonly onMessage: (message: Buffer) => void
  /** Without an error: the server ended the call with status OK, or we closed it. */
  readonly onEnd: (error: GrpcError | undefined) => void
}

/**
 * Limit of the bytes that the stream has not taken: beyond it the peer does not read, and the call
 * is given up.
 */
const UNSENT_BYTES_MAX = 16 * 1024 * 1024

export class Duplex implements AnswerListener {
  readonly #connection: GrpcConnection
  readonly #options: DuplexOptions
  readonly #stream: ClientStream
  readonly #frames: MessageFrames
  readonly #stopListening: () => void
  /** Frames that wait until the stream has taken the ones before. */
  #unsent: Buffer[] = []
  #unsentBytes = 0
  #isFinishing = false
  #isEnded = false

  /**
   * The connection's stream must have been acquired; it is released when the stream has ended.
   * Throws as `request` does.
   */
  constructor(connection: GrpcConnection, options: DuplexOptions) {
    this.#connection = connection
    this.#options = options
    // Several messages can be in one chunk, and the first may be the reason to close.
    this.#frames = new MessageFrames((message) => {
      if (!this.#isEnded) options.onMessage(message)
    })
    try {
      this.#stream = connection.request(options.headers, this)
    } catch (error) {
      connection.release()
      throw error
    }
    this.#stopListening = connection.onLeave((error) => this.#giveUp(error))
  }

  send(frame: Buffer): void {
    if (this.#isEnded) return
    this.#unsent.push(frame)
    this.#unsentBytes += frame.length
    if (this.#unsentBytes > UNSENT_BYTES_MAX) {
      this.#giveUp(
        this.#error('ResourceExhausted', `${this.#connection.endpoint} does not read what is sent`),
      )
    } else this.#sendOn()
  }

  /** Nothing more is sent; answers may still come. */
  finish(): void {
    this.#isFinishing = true
    this.#sendOn()
  }

  readonly #sendOn = (): void => {
    if (this.#isEnded || this.#stream.leftBytes > 0) return
    const unsent = this.#unsent
    this.#unsent = []
    this.#unsentBytes = 0
    const isTaken = unsent.length === 0 || this.#stream.write(unsent, this.#sendOn)
    if (isTaken && this.#isFinishing) this.#stream.end()
  }

  /** Ends the call now, without an error. */
  close(): void {
    this.#giveUp(undefined)
  }

  /** Ends the call now, without `onEnd`. */
  abandon(): void {
    this.#isEnded = true
    this.#stopListening()
    this.#stream.cancel(CODE.CANCEL)
  }

  /** Receiving stops until `resume`; the flow-control window then holds the server back. */
  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }

  onHead(fields: readonly HeaderField[]): void {
    this.#connection.heard = true
    if (hasStatus(fields)) this.onTrailers(fields)
    else if (!isHttpOk(fields)) this.#giveUp(notGrpc(fields, this.#connection.endpoint))
  }

  onData(chunk: Buffer): void {
    if (this.#isEnded) return
    this.#connection.heard = true
    try {
      this.#frames.push(chunk)
    } catch (error) {
      this.#giveUp(unreadable(error, this.#connection.endpoint))
    }
  }

  #status: GrpcError | 'ok' | undefined

  /** `onEnd` is called when the stream is closed. */
  onTrailers(fields: readonly HeaderField[]): void {
    this.#status = this.#connection.statusFailure(fields) ?? 'ok'
  }

  onClose(code: number): void {
    this.#connection.release()
    if (this.#status === 'ok' && this.#frames.isPartial)
      this.#end(this.#error('Internal', 'a message is cut off'))
    else if (this.#status === 'ok') this.#end(undefined)
    else
      this.#end(
        this.#status ?? this.#connection.streamLost(this.#stream, code === CODE.REFUSED_STREAM),
      )
  }

  #giveUp(error: GrpcError | undefined): void {
    if (this.#isEnded) return
    this.#end(error)
    this.#stream.cancel(CODE.CANCEL)
  }

  #end(error: GrpcError | undefined): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#stopListening()
    this.#options.onEnd(error)
  }

  #error(code: GrpcError['code'], message: string): GrpcError {
    return new GrpcError(code, message, { ambiguous: true, endpoint: this.#connection.endpoint })
  }
}
