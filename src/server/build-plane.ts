/**
 * Connects a control plane with the server that contains it: storage, tokens, and documents about
 * the server.
 */
import { type Dial, dialDirect } from '../lib/net/dial.ts'
import type { Egress } from '../net/egress/dialer.ts'
import type { ClientCertificate } from '../request/aggregation/client-certificate.ts'
import type { Audit } from '../request/audit/audit.ts'
import { checkComponents } from '../request/discovery/components.ts'
import { createDocuments } from '../request/discovery/documents.ts'
import type { Tracing } from '../request/tracing/tracing.ts'
import type { Tokens } from './access/tokens.ts'
import { type ControlPlane, createControlPlane } from './control-plane.ts'
import { etcdFault, type Health } from './health.ts'
import { createPlaneMetrics } from './plane-metrics.ts'
import type { ServerHooks } from './request/build-pipeline.ts'
import type { ServerCore, ServerState } from './server-core.ts'
import { etcdServers, type OpenStorage } from './storage/open-storage.ts'
import type { DebugPages } from './telemetry.ts'

export type PlaneOptions = {
  readonly storage: OpenStorage
  readonly tokens: Tokens
  readonly health: Health
  readonly audit: Audit | undefined
  readonly tracing: Tracing | undefined
  readonly debugPages: DebugPages
  /** The certificate that this server presents to aggregated API servers. */
  readonly proxyClient: ClientCertificate
}

export function buildPlane(core: ServerCore, options: PlaneOptions): ControlPlane {
  const { config, environment, state, metrics, egress, memory } = core
  const { storage, tokens, proxyClient } = options
  const { cache, store, overrides, engine } = storage
  const plane = createControlPlane({
    core: {
      config,
      environment,
      storage: {
        cache,
        store,
        overrideOf: overrides.of,
        requestCounts: engine,
      },
      egress,
      metrics: createPlaneMetrics(metrics, { ...environment, release: config.release }),
      requestBytes: memory.requestBytes,
    },
    tokens,
    aggregation: {
      clientCertificate: () => proxyClient.current,
      ownAddress: () => state.address,
      dial: dialRemote(egress, state),
    },
    hooks: hooksOf(core, options),
  })
  metrics.onPrint(() => plane.flowControl?.recordMetrics())
  return plane
}

function hooksOf(core: ServerCore, options: PlaneOptions): ServerHooks {
  const { config, environment, state, metrics, sliMetrics, publicAddress } = core
  const { storage, tokens, health, audit, tracing, debugPages } = options
  return {
    traces: tracing,
    audit,
    server: state,
    readComponents: () =>
      checkComponents([
        { servers: etcdServers(config), fault: etcdFault(storage.cache) },
        ...storage.overrides.health(),
      ]),
    createDocuments: (registry, answers) =>
      createDocuments({
        registry,
        serverAddress: publicAddress,
        ...health,
        metrics,
        sliMetrics,
        issuer: tokens.issuer,
        clock: environment.clock,
        gates: config.featureGates,
        emulatedMinor: config.runtime.emulation.minor,
        flagValues: config.flagValues,
        ...answers,
        debugPages,
      }),
  }
}

/**
 * Returns the function that opens connections to aggregated API servers. Connections to this server
 * itself are direct, without a proxy.
 */
function dialRemote({ cluster }: Egress, state: ServerState): Dial {
  if (cluster === undefined) return dialDirect
  return (host, port, signal) => {
    const { address } = state
    const isOwn = address?.host === host && address.port === port
    return isOwn ? dialDirect(host, port, signal) : cluster(host, port, signal)
  }
}
