/**
 * A remote API server that an APIService references through a Service. Its connections are reused
 * until the spec of the APIService changes.
 */
import { quote } from '../../api/quote.ts'
import type { Dial } from '../../lib/net/dial.ts'
import { type Address, addressOf, endpointOf } from '../../net/outbound/service-address.ts'
import type { EndpointRouting, GetService } from '../../net/outbound/call.ts'
import type { RemoteSpec } from './api-service.ts'
import { RemoteConnections, type RemoteTls } from './connections.ts'
import { fetchDocument, type DocumentOptions, type RemoteDocument } from './document.ts'
import type { RemoteMemory } from './remote-pool.ts'
import type { RemoteAnswer, RemoteRequest, UpgradeAnswer } from './remote-request.ts'

export type RemoteOptions = {
  readonly getService: GetService
  /**
   * Selects an endpoint of the Service. Absent if requests are sent to the cluster IP of the
   * Service (`--enable-aggregator-routing=false`).
   */
  readonly routing?: EndpointRouting | undefined
  /** Address at which this server listens. The Service default/kubernetes resolves to it. */
  readonly ownAddress: () => Address | undefined
  /**
   * Returns the client certificate that this server presents to remote servers. It is the same
   * object until the certificate is replaced. Undefined if there is no certificate.
   */
  readonly clientCertificate: () => RemoteTls['client']
  readonly dial: Dial
  /**
   * Buffers for responses that all remote servers share. If absent, the connections to this remote
   * server have their own buffers.
   */
  readonly memory?: RemoteMemory
}

/** Thrown if the Service cannot be resolved. */
export class UnresolvedService extends Error {
  override readonly name = 'UnresolvedService'
}

export class Remote {
  readonly spec: RemoteSpec
  readonly #options: RemoteOptions
  #connections:
    | { readonly current: RemoteConnections; readonly client: RemoteTls['client'] }
    | undefined
  #isClosed = false

  constructor(spec: RemoteSpec, options: RemoteOptions) {
    this.spec = spec
    this.#options = options
  }

  /**
   * Returns the current address of the Service. If requests are sent directly to endpoints, each
   * call can return a different address. Fails with an UnresolvedService if there is no address.
   */
  async resolve(): Promise<Address> {
    const { service } = this.spec
    const { getService, routing, ownAddress } = this.#options
    const { namespace, name } = service
    if (isOwnService(service))
      throw new UnresolvedService(`service ${quote(name)} is this server itself`)
    const found = await getService(namespace, name)
    const address =
      routing === undefined
        ? addressOf(found, service)
        : endpointOf(found, service, {
            endpoints: await routing.getEndpoints(namespace, name),
            random: routing.random,
          })
    if (typeof address === 'string') throw new UnresolvedService(address)
    const own = ownAddress()
    // The Service resolves to this server, which would receive the request again and forward it in
    // an endless loop.
    if (address.port === own?.port && (address.host === own.host || address.host === 'localhost'))
      throw new UnresolvedService(`service ${quote(name)} is this server itself`)
    return address
  }

  /**
   * Sends a request. Resolves when the status and headers of the response have arrived. Fails with
   * an UnresolvedService if there is no address, and with a FailedCall if there is no response.
   */
  async send(request: RemoteRequest, address?: Address): Promise<RemoteAnswer> {
    return this.connections().send(address ?? (await this.resolve()), request)
  }

  async upgrade(request: Omit<RemoteRequest, 'pipeBody'>): Promise<UpgradeAnswer> {
    return this.connections().upgrade(await this.resolve(), request)
  }

  /**
   * Fetches a discovery or OpenAPI document from the server. Fails with an UnresolvedService, a
   * FailedCall or a TooLargeDocument.
   */
  fetchDocument(path: string, options: DocumentOptions): Promise<RemoteDocument> {
    return fetchDocument((request) => this.send(request), path, options)
  }

  /** Closes the connections. Responses in progress continue. */
  close(): void {
    this.#isClosed = true
    this.#connections?.current.close()
  }

  /**
   * Returns the connections that use the current certificate. Fails if the certificates cannot be
   * used.
   */
  connections(): RemoteConnections {
    const client = this.#options.clientCertificate()
    if (this.#connections !== undefined && this.#connections.client === client)
      return this.#connections.current
    const { service, caPem, isInsecure } = this.spec
    const servername = `${service.name}.${service.namespace}.svc`
    const current = new RemoteConnections(
      { servername, caPem, isInsecure, client },
      this.#options.dial,
      this.#options.memory,
    )
    this.#connections?.current.close()
    this.#connections = { current, client }
    if (this.#isClosed) current.close()
    return current
  }
}

const OWN_PORT = 443

const isOwnService = ({ namespace, name, port }: RemoteSpec['service']): boolean =>
  namespace === 'default' && name === 'kubernetes' && port === OWN_PORT
