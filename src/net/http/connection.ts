/** The state of one connection that its requests share, such as the peer and its use of limits. */
import type { TLSSocket } from 'node:tls'
import type { PeerCertificate } from '../../api/request.ts'
import type { ServerConnection } from '../http2/server-connection.ts'
import { TokenBucket } from '../../lib/time/token-bucket.ts'
import type { Http1Heads } from './http1-heads.ts'
import type { Http1Pipeline } from './http1-pipeline.ts'
import type { Limits } from './limits.ts'

export class Connection {
  readonly socket: TLSSocket
  readonly remoteAddress: string
  /** Number of current requests. */
  open = 0
  /** Time when the last request on this connection ended, or when the connection was opened. */
  idleSinceMs = performance.now()
  /** Whether a request on this connection was authenticated. */
  isAuthenticated = false
  /** Whether the connection closes when its current requests are complete. */
  isEnding = false
  /**
   * The time of the last check at which the client was not stalled: no data waited for the client,
   * or it had read some data since the check before.
   */
  stalledSinceMs = 0
  writesSeen = -1
  /** The HTTP/2 connection. Undefined for HTTP/1.1. */
  http2: ServerConnection | undefined
  /** Whether some of the response to the last HTTP/1.1 request is still unsent. */
  hasBegunAnswer: (() => boolean) | undefined
  /** Counts the header bytes of HTTP/1.1 requests. Undefined for HTTP/2. */
  heads: Http1Heads | undefined
  pipeline: Http1Pipeline | undefined
  readonly #resets: TokenBucket
  readonly #controls: TokenBucket
  #certificate: PeerCertificate | null | undefined
  #isOutdated = false

  constructor(socket: TLSSocket, limits: Limits) {
    this.socket = socket
    this.remoteAddress = socket.remoteAddress ?? ''
    const nowMs = performance.now()
    this.#resets = new TokenBucket(limits.resetsBurst, limits.resetsPerSecond, nowMs)
    this.#controls = new TokenBucket(limits.controlsBurst, limits.controlsPerSecond, nowMs)
  }

  /**
   * Whether the CAs for client certificates have changed since the TLS handshake of this
   * connection.
   */
  get isOutdated(): boolean {
    return this.#isOutdated
  }

  /** Accepts no further requests. Requests in progress are still served. */
  close(): void {
    this.isEnding = true
    this.http2?.close()
  }

  /**
   * Records that the peer's certificate was verified with CAs that are no longer configured. From
   * now on, requests cannot be authenticated with this certificate.
   */
  outdate(): void {
    this.#isOutdated = true
    this.isEnding = true
    if (this.#certificate) this.#certificate = { ...this.#certificate, isOutdated: true }
  }

  /** Returns the peer's certificate. The certificate is cached until the client CAs change. */
  readonly peerCertificate = (): PeerCertificate | undefined => {
    if (this.#certificate === undefined) this.#certificate = shownBy(this.socket)
    return this.#certificate ?? undefined
  }

  /**
   * Counts a stream that the client has reset. Returns false if the client resets streams faster
   * than a well-behaved client would.
   */
  readonly mayReset = (): boolean => this.#resets.take(performance.now())

  /**
   * Counts a PING, SETTINGS or empty frame. Returns false if the client sends these frames faster
   * than a well-behaved client would.
   */
  readonly mayControl = (): boolean => this.#controls.take(performance.now())
}

function shownBy(socket: TLSSocket): PeerCertificate | null {
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return null
  if (socket.authorized) return { certificate, isVerified: true }
  // Node declares `authorizationError` as an Error, but its value is OpenSSL's error code.
  return { certificate, isVerified: false, fault: String(socket.authorizationError) }
}
