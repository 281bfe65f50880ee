/**
 * State shared by all requests of one connection: the peer, and how much of its limits the
 * connection has used.
 */
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
   * If the client is stalled: the time of the last check at which it was not stalled. At that
   * check, no data waited for the client, or the client had read some data since the previous
   * check.
   */
  stalledSinceMs = 0
  writesSeen = -1
  /** The HTTP/2 connection. Undefined for HTTP/1.1. */
  http2: ServerConnection | undefined
  /** Whether only a part of the response to the last HTTP/1.1 request has been sent. */
  hasBegunAnswer: (() => boolean) | undefined
  /** Accounts for the headers of HTTP/1.1 requests. Undefined for HTTP/2. */
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

  /** Whether the client CAs have changed since the handshake. */
  get isOutdated(): boolean {
    return this.#isOutdated
  }

  /** Accepts no further requests. Requests in progress are still served. */
  close(): void {
    this.isEnding = true
    this.http2?.close()
  }

  /**
   * Marks the peer's certificate as verified with outdated CAs. Requests in progress that are not
   * authenticated yet must not be authenticated with the certificate.
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
