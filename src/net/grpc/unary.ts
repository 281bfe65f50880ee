/**
 * A unary call on an open connection. This is a hot path: a call sends one Buffer, usually decodes
 * the response without copying it, and uses listeners instead of iterators. It listens to an
 * AbortSignal only if the caller passes one.
 */
import type { AnswerListener, ClientStream } from '../http2/client-stream.ts'
import type { HeaderField } from '../http2/field.ts'
import { CODE } from '../http2/protocol.ts'
import { MessageFrames, messageLength } from './codec/frames.ts'
import { WireReader } from './codec/reader.ts'
import type { GrpcConnection } from './connection.ts'
import { GrpcError } from './errors.ts'
import { hasStatus, isHttpOk, notGrpc, unreadable } from './status.ts'
import { cancelled } from './within.ts'

export type UnaryOptions<T> = {
  readonly headers: readonly string[]
  readonly frame: Buffer
  readonly read: (reader: WireReader) => T
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/**
 * Makes a unary call. The caller must first reserve a stream of the connection with `acquire`. The
 * stream is released when the call has ended.
 */
export function callUnary<T>(connection: GrpcConnection, options: UnaryOptions<T>): Promise<T> {
  if (options.signal?.aborted === true) {
    connection.release()
    return Promise.reject(cancelled(options.signal))
  }
  return new Promise((resolve, reject) => new UnaryCall(connection, options, resolve, reject))
}

class UnaryCall<T> implements AnswerListener {
  readonly #connection: GrpcConnection
  readonly #options: UnaryOptions<T>
  readonly #resolve: (value: T) => void
  readonly #reject: (error: Error) => void
  readonly #stream: ClientStream
  readonly #timer: NodeJS.Timeout
  #isSettled = false
  #message: Buffer | undefined
  #frames: MessageFrames | undefined

  constructor(
    connection: GrpcConnection,
    options: UnaryOptions<T>,
    resolve: (value: T) => void,
    reject: (error: Error) => void,
  ) {
    this.#connection = connection
    this.#options = options
    this.#resolve = resolve
    this.#reject = reject
    try {
      this.#stream = connection.request(options.headers, this)
    } catch (error) {
      connection.release()
      throw error
    }
    this.#timer = setTimeout(this.#onTimeout, options.timeoutMs)
    options.signal?.addEventListener('abort', this.#onAbort)
    this.#stream.end([options.frame])
  }

  onHead(fields: readonly HeaderField[]): void {
    this.#connection.heard = true
    // A response without a message (trailers-only) has its status in the first headers.
    if (hasStatus(fields)) this.onTrailers(fields)
    else if (!isHttpOk(fields)) this.#abandon(notGrpc(fields, this.#connection.endpoint))
  }

  onData(chunk: Buffer): void {
    if (this.#isSettled) return
    try {
      if (this.#frames === undefined && this.#message === undefined && chunk.length >= 5) {
        if (messageLength(chunk, 0) + 5 === chunk.length) {
          this.#message = chunk.subarray(5)
          return
        }
      }
      this.#connection.heard = true
      this.#frames ??= new MessageFrames(this.#onMessage)
      this.#frames.push(chunk)
    } catch (error) {
      this.#abandon(this.#unreadable(error))
    }
  }

  readonly #onMessage = (message: Buffer): void => {
    this.#message ??= message
  }

  onTrailers(fields: readonly HeaderField[]): void {
    if (this.#isSettled) return
    const failure = this.#connection.statusFailure(fields)
    if (failure !== undefined) return this.#fail(failure)
    if (this.#message === undefined)
      return this.#fail(this.#error('Internal', 'the response has no message'))
    let value: T
    try {
      value = this.#options.read(new WireReader(this.#message))
    } catch (error) {
      return this.#fail(this.#unreadable(error))
    }
    this.#settle()
    this.#resolve(value)
  }

  onClose(code: number): void {
    this.#connection.release()
    if (!this.#isSettled)
      this.#fail(this.#connection.streamLost(this.#stream, code === CODE.REFUSED_STREAM))
  }

  readonly #onTimeout = (): void => {
    this.#connection.suspect()
    this.#abandon(this.#error('DeadlineExceeded', `no answer within ${this.#options.timeoutMs} ms`))
  }

  readonly #onAbort = (): void => {
    const cause: unknown = this.#options.signal?.reason
    this.#abandon(
      new GrpcError('Cancelled', 'the caller cancelled', {
        ambiguous: true,
        endpoint: this.#connection.endpoint,
        cause,
      }),
    )
  }

  /** Fails the call and resets its stream. */
  #abandon(error: GrpcError): void {
    if (this.#isSettled) return
    this.#fail(error)
    this.#stream.cancel(CODE.CANCEL)
  }

  #fail(error: GrpcError): void {
    this.#settle()
    this.#reject(error)
  }

  #settle(): void {
    this.#isSettled = true
    clearTimeout(this.#timer)
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
  }

  #error(code: GrpcError['code'], message: string): GrpcError {
    return new GrpcError(code, message, { ambiguous: true, endpoint: this.#connection.endpoint })
  }

  #unreadable(cause: unknown): GrpcError {
    return unreadable(cause, this.#connection.endpoint)
  }
}
