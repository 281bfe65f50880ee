/**
 * The connections to one remote server, with one TLS configuration: HTTP/2 where the server agrees, else HTTP/1.1. They are kept open between
 * requests. A request has its own stream or connection until its answer has ended; upgrades have a connection of their own.
 */
import { isIP } from 'node:net'
import { type ConnectionOptions, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'
import { isReplayable } from '../api/proxied-headers.ts'
import { Blocks } from '../lib/blocks.ts'
import { type Dial, dialDirect } from '../lib/dial.ts'
import { secured, securedDirect } from '../lib/dialed-tls.ts'
import { orAborted } from '../lib/or-aborted.ts'
import { serverTrustAnchors } from '../lib/x509/trust-anchors.ts'
import { Http2Session, type SessionOptions } from '../webhooks/http2-session.ts'
import { LostConnection, UnprocessedCall } from '../webhooks/send.ts'
import type { Address } from '../webhooks/service-address.ts'
import { SharedReads } from './shared-reads.ts'
import {
  type RemoteAnswer,
  type RemoteRequest,
  requestAborted,
  type UpgradeAnswer,
  WATCH_WINDOW_BYTES,
} from './remote-request.ts'
import { sendHttp1 } from './send-http1.ts'
import { sendHttp2 } from './send-http2.ts'
import { type Connect, IDLE_MS, TlsAgent } from './tls-agent.ts'
import { sendUpgrade } from './send-upgrade.ts'
import { hostPort } from '../lib/host-port.ts'

/** Time to connect, without TLS, as upstream. */
const CONNECT_MS_MAX = 30_000
/** Connections to one address, each of which takes some hundred streams. */
const HTTP2_CONNECTIONS_MAX = 256
/** How often a request is sent anew that met a connection which the server was just closing. */
const SENDS_MAX = 3

export type RemoteTls = {
  /** The name that the server's certificate is for. Undefined: the host that is connected to. */
  readonly servername: string | undefined
  /** PEM; empty: the CAs of the system. */
  readonly caPem: string
  readonly isInsecure: boolean
  /** What this server shows; undefined: nothing. */
  readonly client: { readonly certificatePem: string; readonly keyPem: string } | undefined
}

export class RemoteConnections {
  readonly #tls: RemoteTls
  readonly #dial: Dial
  readonly #secureContext: SecureContext
  readonly #memory: RemoteMemory
  readonly #pools = new Map<string, Pool>()
  readonly #closing = new AbortController()

  /** Fails if the certificates cannot be used. */
  constructor(tls: RemoteTls, dial: Dial, memory: RemoteMemory = new RemoteMemory()) {
    this.#tls = tls
    this.#memory = memory
    this.#dial = dial
    const { client, caPem } = tls
    this.#secureContext = createSecureContext({
      ...(caPem === '' ? {} : serverTrustAnchors(caPem)),
      ...(client === undefined ? {} : { cert: client.certificatePem, key: client.keyPem }),
    })
  }

  /** Resolves with the head of the answer, while the body of the request may still be sent. Fails with a FailedCall. */
  async send(address: Address, request: RemoteRequest): Promise<RemoteAnswer> {
    return this.#poolOf(address).send(request)
  }

  /** Always over HTTP/1.1, on a connection of its own. Fails with a FailedCall, or an UnansweredUpgrade. */
  async upgrade(address: Address, request: Omit<RemoteRequest, 'pipeBody'>): Promise<UpgradeAnswer> {
    const socket = await this.#connect(address, ['http/1.1'], request.signal)
    return sendUpgrade(request, hostPort(address), socket)
  }

  /** Answers that are under way go on. */
  close(): void {
    this.#closing.abort()
    for (const pool of this.#pools.values()) pool.close()
    this.#pools.clear()
  }

  #poolOf(address: Address): Pool {
    const authority = hostPort(address)
    const known = this.#pools.get(authority)
    if (known !== undefined) return known
    // Endpoints come and go: the pools of those that are gone hold nothing any more.
    for (const [key, pool] of this.#pools) if (pool.isUnused) this.#pools.delete(key)
    const pool = new Pool(authority, this.#memory, {
      open: (protocols, signal) => this.#connect(address, protocols, signal),
      openReading: this.#dial === dialDirect ? (signal) => this.#connectReading(address, signal) : undefined,
    })
    if (!this.#closing.signal.aborted) this.#pools.set(authority, pool)
    return pool
  }

  async #connect({ host, port }: Address, protocols: readonly string[], signal: AbortSignal): Promise<TLSSocket> {
    return secured(this.#dial(host, port, connecting(signal)), this.#options(host, protocols))
  }

  /** For HTTP/2, read into memory that all such connections share. */
  async #connectReading({ host, port }: Address, signal: AbortSignal): Promise<ReadingSocket> {
    const reads = this.#memory.reads.begin()
    const options = { ...this.#options(host, ['h2', 'http/1.1']), host, port, onread: reads.onread }
    return { socket: await securedDirect(options, connecting(signal)), readTo: reads.readTo }
  }

  #options(host: string, protocols: readonly string[]): ConnectionOptions {
    const { servername = isIP(host) === 0 ? host : undefined, isInsecure } = this.#tls
    return {
      ...(servername === undefined ? {} : { servername }),
      secureContext: this.#secureContext,
      rejectUnauthorized: !isInsecure,
      ALPNProtocols: [...protocols],
    }
  }
}

/** Memory that answers go through, shared by all remote servers. */
export class RemoteMemory {
  readonly blocks = new Blocks()
  readonly reads = new SharedReads()
}

const connecting = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS_MAX)])

/** `readTo`: it has no events for what it reads; undefined: it has. */
type ReadingSocket = { readonly socket: TLSSocket; readonly readTo: SessionOptions['readTo'] }

type Opening = {
  readonly open: Connect
  /** Undefined: the connection leads through a proxy. */
  readonly openReading: ((signal: AbortSignal) => Promise<ReadingSocket>) | undefined
}

/** Connections to one address. */
class Pool {
  readonly #authority: string
  readonly #memory: RemoteMemory
  readonly #opening: Opening
  readonly #agent: TlsAgent
  #sessions: readonly Http2Session[] = []
  #opened: Promise<Http2Session | undefined> | undefined
  /** The server did not agree on HTTP/2. */
  #isHttp1 = false
  #isClosed = false

  constructor(authority: string, memory: RemoteMemory, opening: Opening) {
    this.#authority = authority
    this.#memory = memory
    this.#opening = opening
    this.#agent = new TlsAgent(opening.open)
  }

  get isUnused(): boolean {
    return this.#sessions.every(({ isSpent }) => isSpent) && this.#opened === undefined && this.#agent.isUnused
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
        if (session === undefined) return await sendHttp1(sent, this.#authority, { agent: this.#agent, blocks })
        return await sendHttp2(sent, this.#authority, { session, blocks })
      } catch (error) {
        if (!(error instanceof LostConnection)) throw error
        // A body can be read once. What may have been done must not be done again.
        const isRepeatable = !hasBegun && (isReplayable(request) || error instanceof UnprocessedCall)
        if (!isRepeatable || sends === SENDS_MAX) throw new Error('EOF', { cause: error })
      }
    }
  }

  close(): void {
    this.#isClosed = true
    for (const session of this.#sessions) session.close()
    this.#agent.retire()
  }

  /** Has a stream for the request. Undefined: it is to be sent over HTTP/1.1. */
  async #session(signal: AbortSignal): Promise<Http2Session | undefined> {
    if (this.#isHttp1) return undefined
    for (;;) {
      const free = this.#sessions.find((session) => session.acquire())
      if (free !== undefined) return free
      this.#sessions = this.#sessions.filter(({ isSpent }) => !isSpent)
      if (this.#sessions.length >= HTTP2_CONNECTIONS_MAX) throw new Error('too many requests are under way')
      // It is opened for many requests, each of which may give up.
      this.#opened ??= this.#open().finally(() => {
        this.#opened = undefined
      })
      if ((await orAborted(this.#opened, signal, requestAborted)) === undefined) return undefined
    }
  }

  async #open(): Promise<Http2Session | undefined> {
    const { signal } = new AbortController()
    const { open, openReading } = this.#opening
    const { socket, readTo } = await (openReading?.(signal) ?? unread(open(['h2', 'http/1.1'], signal)))
    if (socket.alpnProtocol !== 'h2') {
      this.#isHttp1 = true
      // Node's client needs its events.
      if (readTo === undefined) this.#agent.offer(socket)
      else socket.destroy()
      return undefined
    }
    const session = new Http2Session(socket, IDLE_MS, { streamWindow: WATCH_WINDOW_BYTES, readTo })
    await session.ready
    if (!session.takesStreams || session.isSpent) {
      session.close()
      throw new Error('http2: the server takes no streams')
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
