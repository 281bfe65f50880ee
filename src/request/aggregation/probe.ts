/**
 * Checks whether a remote server is available by requesting the discovery document of its group and
 * version.
 */
import type { Dial } from '../../lib/net/dial.ts'
import { quote } from '../../api/quote.ts'
import { hostPort } from '../../lib/net/hosts.ts'
import { reasonOf } from '../../net/outbound/send.ts'
import type { Address } from '../../net/outbound/service-address.ts'
import type { ApiService } from './api-service.ts'
import { RemoteConnections, type RemoteTls } from './connections.ts'
import { aggregatorUser } from './document.ts'
import { identityHeaders } from './identity.ts'

/**
 * Number of concurrent probes. The server counts as available if one of them succeeds. A Service
 * can have endpoints that are no longer reachable in addition to working ones.
 */
const PROBES = 5
/** Timeout for the whole response. */
const PROBE_MS_MAX = 5_000

/**
 * Sends probes. As in kube-apiserver, probes accept any server certificate, because the content of
 * the response is not used.
 */
export class Prober implements Disposable {
  readonly #client: () => RemoteTls['client']
  readonly #dial: Dial
  #connections:
    | { readonly current: RemoteConnections; readonly client: RemoteTls['client'] }
    | undefined

  constructor(client: () => RemoteTls['client'], dial: Dial) {
    this.#client = client
    this.#dial = dial
  }

  /**
   * Returns undefined if a probe succeeded, and otherwise the reason why the last probe failed. If
   * `resolve` fails, the message of its error is the reason.
   */
  async fault(
    service: ApiService,
    resolve: () => Promise<Address>,
    stopping: AbortSignal,
  ): Promise<string | undefined> {
    const succeeded = new AbortController()
    const signal = AbortSignal.any([succeeded.signal, stopping])
    const one = async (): Promise<string | undefined> => {
      const why = await this.#probe(service, resolve, signal)
      if (why !== undefined) throw new Error(why)
      return undefined
    }
    try {
      return await Promise.any(Array.from({ length: PROBES }, one))
    } catch (error) {
      const [last] = error instanceof AggregateError ? error.errors.slice(-1) : [error]
      return last instanceof Error ? last.message : String(last)
    } finally {
      succeeded.abort()
    }
  }

  [Symbol.dispose](): void {
    this.#connections?.current.close()
  }

  async #probe(
    { name, group, version }: ApiService,
    resolve: () => Promise<Address>,
    stopping: AbortSignal,
  ): Promise<string | undefined> {
    let address: Address
    try {
      address = await resolve()
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
    const path = name === 'v1.' ? `/api/${version}` : `/apis/${group}/${version}`
    const url = `https://${hostPort(address)}${path}`
    const late = AbortSignal.timeout(PROBE_MS_MAX)
    try {
      const { status, body } = await this.#current().send(address, {
        method: 'GET',
        path,
        headers: identityHeaders(aggregatorUser, { hasUid: false }),
        pipeBody: undefined,
        signal: AbortSignal.any([late, stopping]),
      })
      body.close()
      if (status >= 200 && status < 300) return undefined
      return `failing or missing response from ${url}: bad status from ${url}: ${status}`
    } catch (error) {
      const why = late.aborted
        ? clientTimeout
        : error instanceof Error
          ? reasonOf(error)
          : String(error)
      return `failing or missing response from ${url}: Get ${quote(url)}: ${why}`
    }
  }

  #current(): RemoteConnections {
    const client = this.#client()
    if (this.#connections !== undefined && this.#connections.client === client)
      return this.#connections.current
    this.#connections?.current.close()
    const tls = { servername: undefined, caPem: '', isInsecure: true, client }
    const current = new RemoteConnections(tls, this.#dial)
    this.#connections = { current, client }
    return current
  }
}

const clientTimeout = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
