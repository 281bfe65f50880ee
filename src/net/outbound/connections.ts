/**
 * The connections to one webhook. They stay open between calls. When the client certificate is
 * renewed, new connections replace them.
 *
 * As in kube-apiserver, HTTP/2 is offered only to a webhook on this host. A Service or another host
 * name can stand for several servers. With HTTP/2, all calls would reach the same server
 * (kubernetes/kubernetes#75791).
 */
import { Agent } from 'node:https'
import { isIP } from 'node:net'
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'
import type { Dial } from '../../lib/net/dial.ts'
import { DialedTlsAgent } from '../../lib/net/dialed-agents.ts'
import { secured } from '../../lib/net/dialed-tls.ts'
import { orAborted } from '../../lib/concurrency/or-aborted.ts'
import { systemContext } from '../../lib/x509/system-roots.ts'
import type { ServerTrustAnchors } from '../../lib/x509/trust-anchors.ts'
import { type Http2Call, Http2Session } from './http2-session.ts'
import type { KeyPair } from './kubeconfig-credentials.ts'
import { type Answer, LostConnection, send } from './send.ts'

/** Maximum number of attempts for a call whose connection is lost. */
const SENDS_MAX = 3

export type ConnectionsOptions = {
  /** CAs of the webhook's certificate. If undefined, the system's root certificates are used. */
  readonly anchors: ServerTrustAnchors | undefined
  /**
   * Time after which an idle connection is closed, and also the time limit for opening a
   * connection.
   */
  readonly timeoutMs: number
  /** Opens the transport of a connection. If undefined, connections are direct. */
  readonly dial?: Dial | undefined
}

export class Connections {
  readonly #options: ConnectionsOptions
  #current: { readonly pool: Pool; readonly certificate: string } | undefined
  #isClosed = false

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  /**
   * Sends a call with the client certificate `own`. Rejects with a FailedCall if there is no
   * complete response.
   */
  send(call: Http2Call, own: KeyPair | undefined): Promise<Answer> {
    return this.#poolFor(own).send(call)
  }

  /** Closes idle connections now, and the others when their calls have ended. */
  close(): void {
    this.#isClosed = true
    this.#current?.pool.close()
  }

  #poolFor(own: KeyPair | undefined): Pool {
    const certificate = own === undefined ? '' : `${own.cert}${own.key}`
    if (this.#current?.certificate === certificate) return this.#current.pool
    this.#current?.pool.close()
    const { anchors, ...options } = this.#options
    const context =
      anchors === undefined ? systemContext(own) : createSecureContext({ ...anchors, ...own })
    const pool = new Pool(context, options)
    this.#current = { pool, certificate }
    if (this.#isClosed) pool.close()
    return pool
  }
}

/** Connections with one TLS context. */
class Pool {
  readonly #secureContext: SecureContext
  readonly #timeoutMs: number
  readonly #dial: Dial | undefined
  readonly #agent: Agent
  #sessions: readonly Http2Session[] = []
  #opening: Promise<Http2Session | undefined> | undefined
  /** Whether the webhook negotiated HTTP/1.1 instead of HTTP/2. */
  #isHttp1 = false
  #isClosed = false

  constructor(
    secureContext: SecureContext,
    { timeoutMs, dial }: Omit<ConnectionsOptions, 'anchors'>,
  ) {
    this.#secureContext = secureContext
    this.#timeoutMs = timeoutMs
    this.#dial = dial
    // TLS sessions are not cached, because with a resumed session the webhook's certificate would
    // not be verified again.
    const options = { keepAlive: true, timeout: timeoutMs, maxCachedSessions: 0, secureContext }
    this.#agent = dial === undefined ? new Agent(options) : new DialedTlsAgent(dial, options)
  }

  async send(call: Http2Call): Promise<Answer> {
    for (let sends = 1; ; sends++) {
      try {
        const session = await this.#session(call)
        return await (session?.send(call) ?? send({ ...call, agent: this.#agent, isTls: true }))
      } catch (error) {
        if (!(error instanceof LostConnection)) throw error
        if (sends === SENDS_MAX) throw new Error('EOF', { cause: error })
      }
    }
  }

  close(): void {
    this.#isClosed = true
    for (const session of this.#sessions) session.close()
    this.#agent.maxFreeSockets = 0
    for (const sockets of Object.values(this.#agent.freeSockets))
      for (const socket of sockets ?? []) socket.destroy()
  }

  /**
   * Reserves a stream for the call. Returns undefined if the webhook supports only HTTP/1.1.
   * Rejects with a FailedCall if no connection can be opened, or with a LostConnection if the call
   * should be repeated.
   */
  async #session({
    target: { host, port, servername },
    signal,
  }: Http2Call): Promise<Http2Session | undefined> {
    if (this.#isHttp1 || servername !== undefined || !isLocal(host)) return undefined
    for (;;) {
      // Bounded: there are only a few sessions, all with the same server.
      this.#sessions = this.#sessions.filter(({ isSpent }) => !isSpent)
      // Bounded: there are only a few sessions, all with the same server.
      const free = this.#sessions.find((session) => session.acquire())
      if (free !== undefined) return free
      const isOwn = this.#opening === undefined
      this.#opening ??= this.#open(host, port).finally(() => {
        this.#opening = undefined
      })
      try {
        // Several calls may wait for this session. If the signal of one call is aborted, the others
        // continue to wait.
        if ((await orAborted(this.#opening, signal, callAborted)) === undefined) return undefined
      } catch (error) {
        // The session was opened for another call, which has timed out. Try again for this call. If
        // it failed with the same error, failurePolicy Ignore would skip a webhook that had no time
        // to respond.
        if (isOwn || signal.aborted || !isAbort(error)) throw error
      }
    }
  }

  async #open(host: string, port: number): Promise<Http2Session | undefined> {
    const options = {
      host,
      port,
      // SNI carries host names, not addresses (RFC 6066, 3).
      ...(isIP(host) === 0 ? { servername: host } : {}),
      secureContext: this.#secureContext,
      ALPNProtocols: ['h2', 'http/1.1'],
    }
    const socket =
      this.#dial === undefined
        ? await connected(connect(options).setNoDelay(true), this.#timeoutMs)
        : await secured(this.#dial(host, port, AbortSignal.timeout(this.#timeoutMs)), options)
    if (socket.alpnProtocol !== 'h2') {
      socket.destroy()
      this.#isHttp1 = true
      return undefined
    }
    const session = new Http2Session(socket, this.#timeoutMs)
    await session.ready
    // If the webhook accepts no streams, fail. Otherwise the waiting calls would open one
    // connection after another.
    if (!session.takesStreams) {
      session.close()
      throw new Error('http2: the webhook accepts no streams')
    }
    // The peer sent GOAWAY immediately after SETTINGS. Without this error, the waiting calls would
    // open one connection after another until they time out.
    if (session.isSpent) throw new LostConnection()
    this.#sessions = [...this.#sessions, session]
    if (this.#isClosed) session.close()
    return session
  }
}

/** Whether the host is this machine. An IP address must be in the form that a URL has. */
const isLocal = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError'

function connected(socket: TLSSocket, timeoutMs: number): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => socket.destroy(new DOMException('no connection in time', 'AbortError')),
      timeoutMs,
    )
    socket.once('secureConnect', () => {
      clearTimeout(timer)
      socket.off('error', reject)
      resolve(socket)
    })
    socket.once('error', reject)
    socket.once('close', () => {
      clearTimeout(timer)
      reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
    })
  })
}

const callAborted = (): Error => new DOMException('the call was aborted', 'AbortError')
