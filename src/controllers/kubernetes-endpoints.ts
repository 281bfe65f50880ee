/**
 * Keeps the endpoints of the Service default/kubernetes: the addresses of all running servers,
 * including this one.
 */
import { type Fields, fieldsOf, type Json } from '../api/object.ts'
import { objectOf, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { parseIp } from '../api/ip.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { validateTarget } from '../registry/rules/addresses.ts'
import { isSame } from '../objects/schema/equal.ts'
import { Loop } from '../lib/concurrency/loop.ts'

/** Interval between checks, as in kube-apiserver. */
const RECONCILE_MS = 10_000
const STOP_MS_MAX = 5_000

export type KubernetesEndpointsOptions = {
  readonly handle: Handler
  /** The addresses of the running servers (storage/server-addresses.ts). */
  readonly records: {
    readonly renew: (address: string, signal: AbortSignal) => Promise<void>
    readonly list: (signal: AbortSignal) => Promise<readonly string[]>
    readonly remove: (address: string) => Promise<void>
  }
  readonly address: string
  readonly port: number
  readonly log: Log
}

/**
 * Whether the address is allowed in endpoints. Validation rejects unspecified, loopback and
 * link-local addresses.
 */
export const isReachable = (address: string): boolean => validateTarget('', address).length === 0

export class KubernetesEndpoints implements AsyncDisposable {
  readonly #options: KubernetesEndpointsOptions
  readonly #loop: Loop

  constructor(options: KubernetesEndpointsOptions) {
    this.#options = options
    const run = async (signal: AbortSignal): Promise<void> => {
      await options.records.renew(options.address, signal)
      await this.#reconcile(signal)
    }
    const name = 'keeping the endpoints of default/kubernetes'
    this.#loop = new Loop({ name, intervalMs: RECONCILE_MS, run, log: options.log })
  }

  /**
   * Removes this server from the endpoints, so that clients stop using its address before its
   * record expires.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]()
    try {
      await this.#options.records.remove(this.#options.address)
      await this.#reconcile(AbortSignal.timeout(STOP_MS_MAX))
    } catch (error) {
      this.#options.log(
        'warn',
        'failed to remove this server from the endpoints of default/kubernetes',
        {
          error: String(error),
        },
      )
    }
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    const { records, address, port } = this.#options
    const family = parseIp(address)?.family
    const ips = (await records.list(signal)).filter((ip) => parseIp(ip)?.family === family)
    const ports = [{ name: 'https', port, protocol: 'TCP' }]
    const subsets = ips.length === 0 ? [] : [{ addresses: ips.map((ip) => ({ ip })), ports }]
    await this.#ensure(
      '/api/v1/namespaces/default/endpoints',
      {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: named({ 'endpointslice.kubernetes.io/skip-mirror': 'true' }),
        subsets,
      },
      signal,
    )
    const endpoints = ips.map((ip) => ({ addresses: [ip], conditions: { ready: true } }))
    await this.#ensure(
      '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: named({ 'kubernetes.io/service-name': 'kubernetes' }),
        addressType: family ?? 'IPv4',
        endpoints,
        ports,
      },
      signal,
    )
  }

  /** Creates the object, or updates all its fields except metadata. */
  async #ensure(collection: string, wanted: Fields, signal: AbortSignal): Promise<void> {
    const { handle } = this.#options
    const path = `${collection}/kubernetes`
    const found = await request(handle, { method: 'GET', path, signal })
    const { metadata: _, ...fields } = wanted
    if (found.status === NOT_FOUND) {
      refuseFailure(
        await request(handle, { method: 'POST', path: collection, body: wanted, signal }),
      )
      return
    }
    refuseFailure(found)
    const current = fieldsOf(objectOf(found))
    if (Object.entries(fields).every(([name, value]) => isSame(value, current[name]))) return
    const body = { ...current, ...fields, metadata: current['metadata'] }
    refuseFailure(await request(handle, { method: 'PUT', path, body, signal }))
  }
}

const named = (labels: Fields): Json => ({ name: 'kubernetes', namespace: 'default', labels })

function refuseFailure({ status }: { readonly status: number }): void {
  if (status >= FAILURE && status !== CONFLICT)
    throw new Error(`updating the endpoints of default/kubernetes failed: status ${status}`)
}

const NOT_FOUND = 404
const CONFLICT = 409
const FAILURE = 400
