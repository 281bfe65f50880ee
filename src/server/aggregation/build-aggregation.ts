/**
 * Builds the aggregation of a control plane: the list of aggregated API servers, the proxy for
 * requests to them, and the discovery documents that include them.
 */
import { named } from '../../lib/telemetry/log.ts'
import type { Timers } from '../../lib/time/timers.ts'
import { ApiServicesInformer } from '../../request/aggregation/api-services.ts'
import { endpointsSource } from '../../net/outbound/service-endpoints.ts'
import { Availability } from '../../request/aggregation/availability.ts'
import type { AvailabilityMetrics } from '../../request/aggregation/metrics.ts'
import { createProxy, type Proxy } from '../../request/aggregation/proxy.ts'
import { ConnectedRemotes } from '../../request/aggregation/remote-documents.ts'
import type { RemoteOptions } from '../../request/aggregation/remote.ts'
import type { PlaneCore } from '../plane-core.ts'

/** Options for connections to aggregated API servers. */
export type AggregationOptions = Pick<RemoteOptions, 'clientCertificate' | 'ownAddress' | 'dial'>

export type Aggregation = AsyncDisposable & {
  readonly apiServices: ApiServicesInformer
  readonly proxy: Proxy
  readonly documents: ConnectedRemotes
  /** Whether the aggregated discovery document contains every APIService. */
  readonly areListed: () => boolean
  /**
   * Resolves when all APIServices have been read. Until then, this server handles every request
   * itself.
   */
  readonly start: () => Promise<void>
  /** Keeps the Available condition of APIServices current. */
  readonly startAvailability: (
    metrics: AvailabilityMetrics,
    timers: Timers | undefined,
  ) => AsyncDisposable
}

export function buildAggregation(core: PlaneCore, options: AggregationOptions): Aggregation {
  const { config, environment, calls, getEndpoints } = core
  const { clock } = environment
  const log = named(environment.log, 'aggregation')
  const remotes = { getService: calls.getService, routing: calls.routing, ...options }
  const access = core.accessIn('apiregistration.k8s.io')
  const apiServices = new ApiServicesInformer({ access: () => access('apiservices'), remotes, log })
  const hasUid = config.featureGates.isOn('RemoteRequestHeaderUID')
  const proxy = createProxy({ apiServices, hasUid, clock })
  const documents = new ConnectedRemotes(apiServices, proxy, log)
  const owned = new AsyncDisposableStack()
  owned.use(apiServices)
  owned.use(documents)
  let areListed = false
  return {
    apiServices,
    proxy,
    documents,
    areListed: () => areListed,
    start: async () => {
      await apiServices.start()
      if (owned.disposed) return
      // The start of the documents is not awaited here, and never rejects. The server becomes ready
      // only after this start has completed.
      void documents.start().then(() => (areListed = true))
    },
    startAvailability: (metrics, timers) =>
      new Availability(
        {
          ...remotes,
          apiServices,
          getEndpoints,
          endpointsSource: endpointsSource(config.release),
          accessOf: (plural) =>
            core.accessIn(plural === 'endpointslices' ? 'discovery.k8s.io' : '')(plural),
          handle: core.handle,
          metrics,
          clock,
          log,
        },
        timers,
      ).start(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
