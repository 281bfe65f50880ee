/**
 * The connections to one address of a remote server. Requests share HTTP/2 connections. If the
 * server closes the connection just when a request is sent, the request is sent again, provided
 * that it is safe to repeat.
 */
import type { TLSSocket } from 'node:tls'
import { isReplayable } from '../../api/proxied-headers.ts'
import { Blocks } from '../../lib/bytes/blocks.ts'
import { orAborted } from '../../lib/concurrency/or-aborted.ts'
import { Http2Session, type SessionOptions } from '../../net/outbound/http2-session.ts'
import { LostConnection, UnprocessedCall } from '../../net/outbound/send.ts'
import {
  type RemoteAnswer,
  type RemoteRequest,
  requestAborted,
  WATCH_WINDOW_BYTES,
} from './remote-request.ts'
import { sendHttp1 } from './send-http1.ts'
import { sendHttp2 } from './send-http2.ts'
import { SharedReads } from './shared-reads.ts'
import { type Connect, IDLE_MS, TlsAgent } from './tls-agent.ts'

/** Maximum number of connections to one address. Each connection supports a few hundred streams. */
const HTTP2_CONNECTIONS_MAX = 256
/** Maximum number of attempts to send a request whose connection the server closes. */
const SENDS_MAX = 3

/** Buffers for responses, shared by all remote servers. */
export class RemoteMemory {
  readonly blocks = new Blocks()
  readonly reads = new SharedReads()
}

/**
 * A socket. `readTo` sets the receiver of its data. If `readTo` is set, the socket emits no data
 * events.
 */
export type ReadingSocket = {
  readonly socket: TLSSocket
  readonly readTo: SessionOptions['readTo']
}

type RemoteOpeners = {
  readonly open: Connect
  /**
   * Opens a socket whose data is read into a shared buffer. Undefined if connections are made
   * through a proxy.
   */
  readonly openReading: ((signal: AbortSignal) => Promise<ReadingSocket>) | undefined
}

export class RemotePool {
  readonly #authority: string
  readonly #memory: RemoteMemory
  readonly #opening: RemoteOpeners
  readonly #agent: TlsAgent
  #sessions: readonly Http2Session[] = []
  #opened: Promise<Http2Session | undefined> | undefined
  /** Whether the server does not support HTTP/2. */
  #isHttp1 = false
  #isClosed = false

  constructor(authority: string, memory: RemoteMemory, opening: RemoteOpeners) {
    this.#authority = authority
    this.#memory = memory
    this.#opening = opening
    this.#agent = new TlsAgent(opening.open)
  }

  get isUnused(): boolean {
    return (
      this.#sessions.every(({ isSpent }) => isSpent) &&
      this.#opened === undefined &&
      this.#agent.isUnused
    )
  }

  async send(request: RemoteRequest): Promise<RemoteAnswer> {
    let hasBegun = false
    const pipeBody = request.pipeBody
    const sent: RemoteRequest = {
      ...request,
      pipeBody:
        pipeBody &&
        ((take) => {
          hasBegun = true
          return pipeBody(take)
        }),
    }
    for (let sends = 1; ; sends++) {
      const session = await this.#session(request.signal)
      try {
        const { blocks } = this.#memory
        if (session === undefined)
          return await sendHttp1(sent, this.#authority, { agent: this.#agent, blocks })
        return await sendHttp2(sent, this.#authority, { session, blocks })
      } catch (error) {
        if (!(error instanceof LostConnection)) throw error
        // Send a request again only if it cannot have been executed, and if its body has not been
        // read. The body can be read only once.
        const isRepeatable =
          !hasBegun && (isReplayable(request) || error instanceof UnprocessedCall)
        if (!isRepeatable || sends === SENDS_MAX) throw new Error('EOF', { cause: error })
      }
    }
  }

  close(): void {
    this.#isClosed = true
    for (const session of this.#sessions) session.close()
    this.#agent.retire()
  }

  /**
   * Reserves a stream for the request and returns its session, or undefined if the request must use
   * HTTP/1.1.
   */
  async #session(signal: AbortSignal): Promise<Http2Session | undefined> {
    if (this.#isHttp1) return undefined
    for (;;) {
      // Bounded: there are at most HTTP2_CONNECTIONS_MAX sessions, so each search is short.
      const free = this.#sessions.find((session) => session.acquire())
      if (free !== undefined) return free
      // Bounded: there are at most HTTP2_CONNECTIONS_MAX sessions.
      this.#sessions = this.#sessions.filter(({ isSpent }) => !isSpent)
      if (this.#sessions.length >= HTTP2_CONNECTIONS_MAX)
        throw new Error('too many requests are in progress')
      // Many requests share the session. Therefore, aborting one of them must not abort the
      // connection attempt.
      this.#opened ??= this.#open().finally(() => {
        this.#opened = undefined
      })
      if ((await orAborted(this.#opened, signal, requestAborted)) === undefined) return undefined
    }
  }

  async #open(): Promise<Http2Session | undefined> {
    const { signal } = new AbortController()
    const { open, openReading } = this.#opening
    const { socket, readTo } = await (openReading?.(signal) ??
      unread(open(['h2', 'http/1.1'], signal)))
    if (socket.alpnProtocol !== 'h2') {
      this.#isHttp1 = true
      // Node's HTTP/1.1 client needs the data events of the socket, so it cannot use a socket that
      // is read into a shared buffer.
      if (readTo === undefined && !this.#isClosed) this.#agent.offer(socket)
      else socket.destroy()
      return undefined
    }
    const session = new Http2Session(socket, IDLE_MS, { streamWindow: WATCH_WINDOW_BYTES, readTo })
    await session.ready
    if (!session.takesStreams || session.isSpent) {
      session.close()
      throw new Error('http2: the server accepts no streams')
    }
    this.#sessions = [...this.#sessions, session]
    if (this.#isClosed) session.close()
    return session
  }
}

const unread = async (opening: Promise<TLSSocket>): Promise<ReadingSocket> => ({
  socket: await opening,
  readTo: undefined,
})
