/**
 * One HTTP/2 connection to a webhook or an aggregated API server, shared by many concurrent calls.
 */
import type { TLSSocket } from 'node:tls'
import { ClientConnection } from '../http2/client-connection.ts'
import type { Http2ConnectionOptions } from '../http2/connection.ts'
import type { AnswerListener, ClientStream } from '../http2/client-stream.ts'
import { HeaderMemory } from '../http2/header-memory.ts'
import { HpackEncoder } from '../http2/hpack-encoder.ts'
import { Turn } from '../http2/turn.ts'
import { CODE } from '../http2/protocol.ts'
import { Blocks } from '../../lib/bytes/blocks.ts'
import {
  type Answer,
  answerOf,
  bodyHeaders,
  BrokenAnswer,
  type Call,
  LostConnection,
  TooLargeError,
  UnprocessedCall,
} from './send.ts'

/**
 * Size of the flow control window of a stream. A response of a few KB fits into it, so that it
 * arrives without a WINDOW_UPDATE.
 */
const STREAM_WINDOW_BYTES = 1 << 20
/**
 * Size of the flow control window of the connection. The window is opened again as soon as data
 * arrives, even if the data has not been read. Therefore, a paused stream does not delay the
 * others.
 */
const CONNECTION_WINDOW_BYTES = 16 << 20
/** Limits for the headers of a response. Responses have only a few short headers. */
const HEADER_LIMITS = { headerBytesMax: 64 << 10, headersMax: 200 }
/** Maximum number of concurrent streams if the peer does not announce a limit. */
const STREAMS_MAX = 100

/** Time for the peer to read the last frames before the socket is destroyed. */
const CLOSE_MS = 2_000

export type Http2Call = Omit<Call, 'agent' | 'isTls' | 'body'> & {
  readonly authority: string
  readonly body: string
}

export type SessionOptions = {
  readonly streamWindow?: number
  readonly readTo?: Http2ConnectionOptions['readTo']
}

export class Http2Session {
  readonly #socket: TLSSocket
  readonly #connection: ClientConnection
  readonly #idleMs: number
  #streamsMax = STREAMS_MAX
  #streams = 0
  /** Number of events that were received. While it grows, the peer is alive. */
  #heard = 0
  #isAnswered = false
  #isClosed = false
  #failure: Error | undefined
  #idle: NodeJS.Timeout | undefined
  #closing: NodeJS.Timeout | undefined
  readonly #settings = Promise.withResolvers<void>()

  /**
   * `socket` must be open, and its TLS handshake must have negotiated h2. An idle session is closed
   * after `idleMs`. `streamWindow` limits how much of a response is received while it is paused.
   * `readTo` is explained at Http2ConnectionOptions.
   */
  constructor(
    socket: TLSSocket,
    idleMs: number,
    { streamWindow = STREAM_WINDOW_BYTES, readTo }: SessionOptions = {},
  ) {
    this.#socket = socket
    this.#idleMs = idleMs
    // Prevents an unhandled rejection if no caller awaits `ready`. Calls report the error.
    this.#settings.promise.catch(() => undefined)
    socket.on('error', (error) => {
      this.#failure ??= error
    })
    socket.on('close', () => {
      this.close()
      clearTimeout(this.#closing)
    })
    this.#connection = new ClientConnection({
      socket,
      owner: {
        onSettings: (streamsMax) => {
          this.#heard++
          if (streamsMax !== Number.POSITIVE_INFINITY) this.#streamsMax = streamsMax
          this.#settings.resolve()
        },
        onPong: () => undefined,
        onGoaway: () => this.close(),
        onFault: (error) => {
          this.#failure ??= error
        },
      },
      limits: HEADER_LIMITS,
      readTo,
      streamWindow,
      connectionWindow: CONNECTION_WINDOW_BYTES,
      encoder: new HpackEncoder(),
      blocks: new Blocks(),
      turn: new Turn(),
      headerMemory: new HeaderMemory(),
    })
    this.#waitIdle()
  }

  /** Whether the session cannot accept more calls. */
  get isSpent(): boolean {
    return this.#isClosed || this.#connection.isSpent
  }

  /**
   * Resolves when the peer has sent SETTINGS. Rejects with a FailedCall, which is an AbortError if
   * SETTINGS do not arrive in time.
   */
  get ready(): Promise<void> {
    return this.#settings.promise
  }

  /** Whether the peer accepts any calls. Its SETTINGS can allow zero concurrent streams. */
  get takesStreams(): boolean {
    return this.#streamsMax > 0
  }

  /** Reserves a stream for `send` or `request`. Returns false if no stream is free now. */
  acquire(): boolean {
    if (this.isSpent || this.#streams >= this.#streamsMax) return false
    this.#streams++
    clearTimeout(this.#idle)
    return true
  }

  /** Closes the connection when the current calls have ended. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#idle)
    this.#settings.reject(this.#failure ?? hungUp())
    this.#connection.close()
    if (this.#streams === 0) this.#destroyLater()
  }

  /**
   * Sends a call on a stream that was reserved for it with `acquire`. Rejects with a FailedCall, or
   * with a LostConnection if the call should be sent again.
   */
  send(call: Http2Call): Promise<Answer> {
    return this.#send(call).finally(() => this.release())
  }

  /**
   * Opens a stream that was reserved with `acquire`. The stream is released when the response has
   * ended. Do not call this if `isSpent` is true. If a listener throws, only its own stream ends,
   * because the error is caused by data of the peer.
   */
  request(headers: readonly string[], listener: AnswerListener): ClientStream {
    const { onHead, onData, onTrailers, onClose, returnsWindow = false } = listener
    const opened: { stream?: ClientStream } = {}
    const guarded =
      <T>(hear: (given: T) => void) =>
      (given: T): void => {
        try {
          hear(given)
        } catch {
          opened.stream?.cancel(CODE.INTERNAL_ERROR)
        }
      }
    const stream = this.#connection.request(headers, {
      onHead: guarded((fields) => {
        this.#heard++
        this.#isAnswered = true
        onHead(fields)
      }),
      onData: guarded(onData),
      returnsWindow,
      onTrailers: guarded(onTrailers),
      onClose: (code) => {
        this.release()
        onClose(code)
      },
    })
    opened.stream = stream
    return stream
  }

  /** Releases a stream that was reserved with `acquire` but is not used. */
  release(): void {
    this.#streams--
    if (this.#streams > 0) return
    if (this.#isClosed) this.#destroyLater()
    else this.#waitIdle()
  }

  /**
   * Ends the socket, and destroys it after a delay. Without the delayed destruction, a peer that
   * does not read, or that keeps sending, could keep the connection open.
   */
  #destroyLater(): void {
    this.#closing ??= setTimeout(() => this.#socket.destroy(), CLOSE_MS).unref()
    this.#socket.destroySoon()
  }

  #send(call: Http2Call): Promise<Answer> {
    const { signal, received, answerBytesMax } = call
    if (signal.aborted)
      return Promise.reject(new DOMException('the call was aborted', 'AbortError'))
    if (this.isSpent) return Promise.reject(new LostConnection())
    return new Promise((resolve, reject) => {
      const heard = this.#heard
      let head: Head | undefined
      let isDone = false
      const fail = (error: Error): void => {
        reject(error)
        stream.cancel(CODE.CANCEL)
      }
      const collected = received.begin((why) => fail(new TooLargeError(why)), answerBytesMax)
      const onAbort = (): void => {
        // The peer has sent nothing since the call began. Close the connection, because it may be
        // dead.
        if (this.#heard === heard) this.close()
        fail(new DOMException('the call was aborted', 'AbortError'))
      }
      const listener = {
        onHead: (fields: readonly Field[]) => {
          this.#heard++
          head = headOf(fields)
        },
        onData: (chunk: Buffer) => {
          this.#heard++
          collected.append(chunk)
        },
        onTrailers: () => undefined,
        onClose: (code: number) => {
          isDone = true
          signal.removeEventListener('abort', onAbort)
          // Check that the response is complete. A stream can be reset with the code NO_ERROR, so
          // the code does not prove it. A part of a YAML document can be valid YAML, so parsing
          // would not detect this.
          if (code === CODE.NO_ERROR && head !== undefined && stream.isRemoteEnded) {
            this.#isAnswered = true
            const body = collected.take()
            if (head.length === undefined || head.length === body.length)
              resolve(answerOf(head, body))
            else reject(new BrokenAnswer())
            return
          }
          collected.close()
          reject(this.lostBy(code, head !== undefined))
        },
      }
      const stream = this.#connection.request(headersOf(call), listener)
      if (isDone) return
      signal.addEventListener('abort', onAbort)
      stream.end([Buffer.from(call.body, 'utf8')])
    })
  }

  /**
   * Returns the error for a stream that was closed with `code`. It is a LostConnection if the peer
   * closed the connection at the moment when it was reused.
   */
  lostBy(code: number, hasHead: boolean): Error {
    if (code === CODE.REFUSED_STREAM) return new UnprocessedCall()
    if (this.#isClosed && this.#isAnswered && !hasHead) return new LostConnection()
    return (
      this.#failure ??
      (this.#socket.destroyed ? hungUp() : new Error(`the stream was reset with code ${code}`))
    )
  }

  #waitIdle(): void {
    this.#idle = setTimeout(() => {
      this.#settings.reject(new DOMException('no SETTINGS in time', 'AbortError'))
      this.close()
    }, this.#idleMs).unref()
  }
}

const hungUp = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })

type Field = { readonly name: string; readonly value: string }
/**
 * The status and the headers of a response. `length` is the content-length, or undefined if there
 * is none. If the content-length is not a number, `length` is NaN, which no body length equals.
 */
type Head = Parameters<typeof answerOf>[0] & { readonly length: number | undefined }

function headOf(fields: readonly Field[]): Head {
  const value = (name: string): string => fields.find((field) => field.name === name)?.value ?? ''
  const length = value('content-length')
  return {
    status: Number(value(':status')),
    type: value('content-type'),
    retryAfter: value('retry-after'),
    length: length === '' ? undefined : /^\d{1,15}$/.test(length) ? Number(length) : Number.NaN,
  }
}

function headersOf({ authority, target, headers, body }: Http2Call): string[] {
  const all = { ...bodyHeaders(body), ...headers }
  const fields = Object.entries(all).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).flatMap((one) => [name, one]),
  )
  return [
    ':method',
    'POST',
    ':scheme',
    'https',
    ':authority',
    authority,
    ':path',
    target.path,
    ...fields,
  ]
}
