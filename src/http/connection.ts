/** What the requests of one connection share: who is on the other side, and how much it has been asking for. */
import type { TLSSocket } from 'node:tls'
import type { PeerCertificate } from '../api/request.ts'
import type { ServerConnection } from '../http2/server-connection.ts'
import { Bucket } from '../lib/bucket.ts'
import type { Http1Heads } from './http1-heads.ts'
import type { Limits } from './limits.ts'

export class Connection {
  readonly socket: TLSSocket
  readonly remoteAddress: string
  /** Requests that are not over yet. */
  open = 0
  /** Since when there is none. */
  idleSinceMs = performance.now()
  /** Somebody on it has shown who they are. */
  isAuthenticated = false
  /** Since when the client has taken nothing of what is there for it, as far as the listener has looked. */
  stalledSinceMs = 0
  writesSeen = -1
  /** It ends when what is under way is answered. */
  isOutdated = false
  /** Absent for HTTP/1.1. */
  http2: ServerConnection | undefined
  /** Of the last request of HTTP/1.1: whether some of its answer is on its way, but not all. */
  hasBegunAnswer: (() => boolean) | undefined
  /** Absent for HTTP/2. */
  heads: Http1Heads | undefined
  readonly #resets: Bucket
  readonly #controls: Bucket
  #certificate: PeerCertificate | null | undefined

  constructor(socket: TLSSocket, limits: Limits) {
    this.socket = socket
    this.remoteAddress = socket.remoteAddress ?? ''
    const nowMs = performance.now()
    this.#resets = new Bucket(limits.resetsBurst, limits.resetsPerSecond, nowMs)
    this.#controls = new Bucket(limits.controlsBurst, limits.controlsPerSecond, nowMs)
  }

  /** Asked for once: it is the same for as long as the connection lasts. */
  readonly peerCertificate = (): PeerCertificate | undefined => {
    if (this.#certificate === undefined) this.#certificate = shownBy(this.socket)
    return this.#certificate ?? undefined
  }

  /** False: it has given up more requests than a client in good faith would. */
  readonly mayReset = (): boolean => this.#resets.take(performance.now())

  /** False: it sends more pings, settings and empty frames than a client in good faith would. */
  readonly mayControl = (): boolean => this.#controls.take(performance.now())
}

function shownBy(socket: TLSSocket): PeerCertificate | null {
  const certificate = socket.getPeerX509Certificate()
  return certificate === undefined ? null : { certificate, isVerified: socket.authorized }
}
