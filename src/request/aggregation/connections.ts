/**
 * The connections to one remote server with one TLS configuration. They use HTTP/2 if the server
 * supports it, and HTTP/1.1 otherwise, and stay open between requests. Each request has its own
 * stream or connection until its response has ended. Each upgrade has its own connection.
 */
import { isIP } from 'node:net'
import {
  type ConnectionOptions,
  createSecureContext,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'
import { type Dial, dialDirect } from '../../lib/net/dial.ts'
import { secured, securedDirect } from '../../lib/net/dialed-tls.ts'
import { hostPort } from '../../lib/net/hosts.ts'
import { systemContext } from '../../lib/x509/system-roots.ts'
import { serverTrustAnchors } from '../../lib/x509/trust-anchors.ts'
import type { Address } from '../../net/outbound/service-address.ts'
import { type ReadingSocket, RemoteMemory, RemotePool } from './remote-pool.ts'
import type { RemoteAnswer, RemoteRequest, UpgradeAnswer } from './remote-request.ts'
import { sendUpgrade } from './send-upgrade.ts'

/** Maximum time to connect, excluding TLS, as in kube-apiserver. */
const CONNECT_MS_MAX = 30_000

export type RemoteTls = {
  /**
   * Expected name in the server's certificate. If undefined, the host of the connection is used.
   */
  readonly servername: string | undefined
  /** CA certificates in PEM format. If empty, the CAs of the system are used. */
  readonly caPem: string
  readonly isInsecure: boolean
  /** The client certificate that this server presents. Undefined if there is none. */
  readonly client: { readonly certificatePem: string; readonly keyPem: string } | undefined
}

export class RemoteConnections {
  readonly #tls: RemoteTls
  readonly #dial: Dial
  readonly #secureContext: SecureContext
  readonly #memory: RemoteMemory
  readonly #pools = new Map<string, RemotePool>()
  readonly #closing = new AbortController()

  /** Reads the certificates. Fails if they cannot be used. */
  constructor(tls: RemoteTls, dial: Dial, memory: RemoteMemory = new RemoteMemory()) {
    this.#tls = tls
    this.#memory = memory
    this.#dial = dial
    const { client, caPem, isInsecure } = tls
    const own = client && { cert: client.certificatePem, key: client.keyPem }
    this.#secureContext =
      caPem === '' && !isInsecure
        ? systemContext(own)
        : createSecureContext({ ...serverTrustAnchors(caPem), ...own })
  }

  /**
   * Sends a request. Resolves when the status and headers of the response have arrived, even if the
   * request body is still being sent. Fails with a FailedCall if there is no response.
   */
  async send(address: Address, request: RemoteRequest): Promise<RemoteAnswer> {
    return this.#poolOf(address).send(request)
  }

  /**
   * Sends an upgrade request over HTTP/1.1, on its own connection. Fails with a FailedCall if the
   * connection cannot be opened. Fails with an UnansweredUpgrade if the server closes the
   * connection without a response.
   */
  async upgrade(
    address: Address,
    request: Omit<RemoteRequest, 'pipeBody'>,
  ): Promise<UpgradeAnswer> {
    const socket = await this.#connect(address, ['http/1.1'], request.signal)
    return sendUpgrade(request, hostPort(address), socket)
  }

  /** Closes the connections. Responses in progress continue. */
  close(): void {
    this.#closing.abort()
    for (const pool of this.#pools.values()) pool.close()
    this.#pools.clear()
  }

  #poolOf(address: Address): RemotePool {
    const authority = hostPort(address)
    const known = this.#pools.get(authority)
    if (known !== undefined) return known
    // The endpoints of a Service change over time, so remove the connection pools that are no
    // longer used.
    for (const [key, pool] of this.#pools) if (pool.isUnused) this.#pools.delete(key)
    const pool = new RemotePool(authority, this.#memory, {
      open: (protocols, signal) => this.#connect(address, protocols, signal),
      openReading:
        this.#dial === dialDirect ? (signal) => this.#connectReading(address, signal) : undefined,
    })
    if (!this.#closing.signal.aborted) this.#pools.set(authority, pool)
    return pool
  }

  async #connect(
    { host, port }: Address,
    protocols: readonly string[],
    signal: AbortSignal,
  ): Promise<TLSSocket> {
    return secured(this.#dial(host, port, connecting(signal)), this.#options(host, protocols))
  }

  /**
   * Opens a connection for HTTP/2. The data of all such connections is read into the same buffer.
   */
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

const connecting = (signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS_MAX)])
