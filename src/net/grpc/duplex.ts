/**
 * A gRPC call with streams in both directions, on an open connection. Messages are delivered
 * synchronously and in order. `onEnd` is called exactly once, unless the caller abandons the call.
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
  /**
   * Called with each message of the server. If it throws, the call ends with an error whose cause
   * is the thrown error.
   */
  readonly onMessage: (message: Buffer) => void
  /**
   * Called when the call has ended. The error is undefined if the server ended the call with status
   * OK, or if the caller closed the call.
   */
  readonly onEnd: (error: GrpcError | undefined) => void
}

/**
 * Maximum number of bytes that wait to be sent. Beyond this limit, the peer is considered stalled
 * and the call fails.
 */
const UNSENT_BYTES_MAX = 16 * 1024 * 1024

export class Duplex implements AnswerListener {
  readonly #connection: GrpcConnection
  readonly #options: DuplexOptions
  readonly #stream: ClientStream
  readonly #frames: MessageFrames
  readonly #stopListening: () => void
  /** Frames that are sent when the stream has accepted all earlier frames. */
  #unsent: Buffer[] = []
  #unsentBytes = 0
  #isFinishing = false
  #isEnded = false

  /**
   * The caller must first reserve a stream of the connection with `acquire`. The stream is released
   * when the call has ended. Throws if `GrpcConnection.request` throws.
   */
  constructor(connection: GrpcConnection, options: DuplexOptions) {
    this.#connection = connection
    this.#options = options
    // A chunk can contain several messages. If the caller closes the call while it handles one of
    // them, the others are dropped.
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
        this.#error('ResourceExhausted', `${this.#connection.endpoint} does not read its messages`),
      )
    } else this.#sendOn()
  }

  /** Ends the request after all queued frames. Responses can still arrive. */
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

  /** Ends the call immediately, without an error. */
  close(): void {
    this.#giveUp(undefined)
  }

  /** Ends the call immediately, without calling `onEnd`. */
  abandon(): void {
    this.#isEnded = true
    this.#stopListening()
    this.#stream.cancel(CODE.CANCEL)
  }

  /** Stops receiving until `resume`. Flow control then stops the server from sending. */
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

  /** Records the gRPC status of the call. `onEnd` is called when the stream closes. */
  onTrailers(fields: readonly HeaderField[]): void {
    this.#status = this.#connection.statusFailure(fields) ?? 'ok'
  }

  onClose(code: number): void {
    this.#connection.release()
    if (this.#status === 'ok' && this.#frames.isPartial)
      this.#end(this.#error('Internal', 'the stream ended in the middle of a message'))
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
