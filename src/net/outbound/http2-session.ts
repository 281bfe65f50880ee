/**
 * One HTTP/2 connection to a webhook or an aggregated server, on which many calls are under way at
 * a time.
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

/** An answer of some KB comes without waiting for us to open its window. */
const STREAM_WINDOW_BYTES = 1 << 20
/**
 * It is given back as data comes, whoever reads it: a stream that is paused does not hold up the
 * others.
 */
const CONNECTION_WINDOW_BYTES = 16 << 20
/** An answer has a handful of short headers. */
const HEADER_LIMITS = { headerBytesMax: 64 << 10, headersMax: 200 }
/** If the peer does not say how many it takes. */
const STREAMS_MAX = 100

/** The peer has this long to read our last frames. */
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
  /** Counts signs of life of the peer. */
  #heard = 0
  #isAnswered = false
  #isClosed = false
  #failure: Error | undefined
  #idle: NodeJS.Timeout | undefined
  #closing: NodeJS.Timeout | undefined
  readonly #settings = Promise.withResolvers<void>()

  /**
   * `socket`: open, with h2 agreed on. `idleMs`: after which it is closed if nobody uses it.
   * `streamWindow`: what comes of one answer while it is paused. `readTo`: see
   * Http2ConnectionOptions.
   */
  constructor(
    socket: TLSSocket,
    idleMs: number,
    { streamWindow = STREAM_WINDOW_BYTES, readTo }: SessionOptions = {},
  ) {
    this.#socket = socket
    this.#idleMs = idleMs
    // Who does not wait for it learns of the failure by a call.
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

  /** No call can be made any more. */
  get isSpent(): boolean {
    return this.#isClosed || this.#connection.isSpent
  }

  /**
   * Fulfilled when the peer has said how many streams it takes. Fails with a FailedCall, an
   * AbortError if it says nothing in time.
   */
  get ready(): Promise<void> {
    return this.#settings.promise
  }

  /** It takes at least one call. */
  get takesStreams(): boolean {
    return this.#streamsMax > 0
  }

  /** Reserves a stream for `send`. False: none is free now. */
  acquire(): boolean {
    if (this.isSpent || this.#streams >= this.#streamsMax) return false
    this.#streams++
    clearTimeout(this.#idle)
    return true
  }

  /** Closes the connection when calls that are under way have ended. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#idle)
    this.#settings.reject(this.#failure ?? hungUp())
    this.#connection.close()
    if (this.#streams === 0) this.#destroyLater()
  }

  /**
   * A stream has to be acquired for it. Fails with a FailedCall, or with a LostConnection if the
   * call is to be sent again.
   */
  send(call: Http2Call): Promise<Answer> {
    return this.#send(call).finally(() => this.release())
  }

  /**
   * A stream has to be acquired for it, which is given back when the answer has ended. Not to be
   * called once the session is spent. A listener that fails ends its stream alone: what it failed
   * on came from the peer.
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

  /** Gives back a stream that was acquired and is not used. */
  release(): void {
    this.#streams--
    if (this.#streams > 0) return
    if (this.#isClosed) this.#destroyLater()
    else this.#waitIdle()
  }

  /**
   * Nothing more is expected: a peer that does not read, or goes on sending, must not keep the
   * connection open.
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
        // The peer has not sent anything since the call began: it may be gone.
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
          // A reset may say NO_ERROR, too, and an answer in YAML may be valid without its rest.
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
   * Why a stream ended with this code: a LostConnection if the peer closed the connection just when
   * it was used again.
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
 * `length`: the content-length; undefined: none. NaN, which nothing equals, if it cannot be read.
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
