/** The health checks of a server. */
import { createChecks } from '../request/discovery/checks.ts'
import type { HealthCheck, OnChecked } from '../request/discovery/health.ts'
import { countChecks } from '../request/discovery/server-metrics.ts'
import type { FirstFill } from '../storage/cache/first-fill.ts'
import type { ControlPlane } from './control-plane.ts'
import type { ServerCore } from './server-core.ts'
import type { OpenStorage } from './storage/open-storage.ts'

export type Health = {
  readonly checks: readonly HealthCheck[]
  readonly onChecked: OnChecked
}

export type HealthOptions = {
  readonly firstFill: FirstFill
  /**
   * Returns the control plane. This is a function, because the control plane is created after the
   * health checks.
   */
  readonly plane: () => ControlPlane
}

export function createHealth(
  { config, environment: { clock }, state, sliMetrics }: ServerCore,
  { cache, encryption, overrides }: OpenStorage,
  { firstFill, plane }: HealthOptions,
): Health {
  const checks = createChecks({
    etcdFault: () => etcdFault(cache),
    isStarted: () => true,
    isFilled: () => firstFill.isDone && plane().isFilled(),
    areRemotesListed: () => plane().aggregation.areListed(),
    hasProxyClient: config.aggregation.proxyClient !== null,
    hasIdentity: config.featureGates.isOn('APIServerIdentity'),
    isBootstrapped: () => state.isBootstrapped(),
    isStopping: () => state.isStopping,
    others: [...encryption.checks, ...overrides.checks],
    livezGraceMs: config.serving.livezGraceMs,
    upMs: () => clock.monotonicMs() - state.startMs,
  })
  return { checks, onChecked: countChecks(sliMetrics) }
}

/** Returns an error message if the main etcd does not respond. Otherwise returns undefined. */
export const etcdFault = ({ isLive }: OpenStorage['cache']): string | undefined =>
  isLive ? undefined : 'etcd does not respond'
