import { hostname, totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import type { Config } from '../config/config.ts'
import { serverName } from '../controllers/identity-lease.ts'
import type { Clock } from '../lib/time/clock.ts'
import { hostPort } from '../lib/net/hosts.ts'
import { platform } from '../lib/platform/current-platform.ts'
import { type MemoryPlan, planMemory } from '../lib/process/memory-plan.ts'
import { Metrics } from '../lib/telemetry/metrics.ts'
import { systemTimers, type Time } from '../lib/time/timers.ts'
import { Verbosity } from '../lib/telemetry/verbosity.ts'
import type { Egress } from '../net/egress/dialer.ts'
import type { Environment } from './environment.ts'

/** The core of a server, which all parts of the server share. */
export type ServerCore = {
  readonly config: Config
  readonly environment: Environment & { readonly verbosity: Verbosity }
  readonly state: ServerState
  readonly time: Time
  readonly metrics: Metrics
  /** Metrics of health checks, which are served at a separate path. */
  readonly sliMetrics: Metrics
  readonly egress: Egress
  readonly memory: MemoryPlan
  /**
   * Identifies the server among all servers that use the same database. Empty if the gate
   * APIServerIdentity is disabled.
   */
  readonly serverId: string
  /** The host and port at which clients reach the server. */
  readonly publicAddress: string
}

/** State that changes while the server starts, runs or stops. */
export type ServerState = {
  readonly startMs: number
  /** The address at which this server can reach itself. */
  address: { readonly host: string; readonly port: number } | undefined
  /** Whether the initial objects of a cluster have been created. */
  isBootstrapped: () => boolean
  isStopping: boolean
  isLeaving: boolean
}

export async function createServerCore(
  config: Config,
  environment: Environment,
): Promise<ServerCore> {
  const { clock, log } = environment
  const { verbosity, modules } = config.telemetry.logging
  const state = {
    startMs: clock.monotonicMs(),
    address: undefined,
    isBootstrapped: () => false,
    isStopping: false,
    isLeaving: false,
  }
  const metrics = new Metrics(config.telemetry.metrics, log).countOwn()
  return {
    config,
    environment: {
      ...environment,
      verbosity: environment.verbosity ?? new Verbosity(verbosity, modules),
    },
    state,
    time: { ...systemTimers, ...clock },
    metrics,
    sliMetrics: new Metrics(config.telemetry.metrics),
    egress: await createEgress(config, metrics, clock),
    memory: planMemory({
      ...config.requests.memory,
      totalBytes: totalmem(),
      constrainedBytes: process.constrainedMemory(),
      heapBytes: getHeapStatistics().heap_size_limit,
      filesMax: platform.openFilesMax(),
    }),
    serverId: config.featureGates.isOn('APIServerIdentity') ? serverName(hostname()) : '',
    publicAddress: hostPort({ host: config.network.externalHost, port: config.network.port }),
  }
}

/**
 * Creates the dialers for the egress configuration. The module is loaded only if egress is
 * configured.
 */
async function createEgress(
  { network: { egress } }: Config,
  metrics: Metrics,
  clock: Clock,
): Promise<Egress> {
  if (egress === null) return {}
  const dialer = await import('../net/egress/dialer.ts')
  return dialer.createEgress(egress, metrics, clock)
}
