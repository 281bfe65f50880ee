/** The metrics of a configuration file that is reloaded, as in kube-apiserver. */
import { hash } from 'node:crypto'
import type { Reloads } from '../config/files/reload.ts'
import type { Metrics } from '../lib/telemetry/metrics.ts'

export type ReloadMetricsOptions = {
  readonly what: 'authentication' | 'authorization' | 'encryption'
  /** The name of this server. */
  readonly serverId: string
  readonly reloads: () => Reloads
}

export function addReloadMetrics(
  metrics: Metrics,
  { what, serverId, reloads }: ReloadMetricsOptions,
): void {
  const about = (name: string, help: string) => ({
    name: `apiserver_${what}_config_controller_${name}`,
    help: `${help} of the ${what} configuration, by status and API server.`,
    labels: ['apiserver_id_hash', 'status'],
  })
  const total = metrics.counter(
    about('automatic_reloads_total', 'Total number of automatic reloads'),
  )
  const last = metrics.gauge(
    about('automatic_reload_last_timestamp_seconds', 'Timestamp of the last automatic reload'),
  )
  // Previous names of the metrics. They are shown only if operators enable hidden metrics.
  const earlier = (outcome: string) =>
    metrics.counter({
      name: `apiserver_encryption_config_controller_automatic_reload_${outcome}_total`,
      help: 'Number of automatic reloads of the encryption configuration, by API server.',
      labels: ['apiserver_id_hash'],
      deprecatedSince: '1.30.0',
    })
  const byOutcome =
    what === 'encryption'
      ? { success: earlier('success'), failure: earlier('failures') }
      : undefined
  const idHash = `sha256:${hash('sha256', serverId)}`
  metrics.onPrint(() => {
    for (const status of ['success', 'failure'] as const) {
      const { count, lastSeconds } = reloads()[status]
      if (count === 0) continue
      const older = byOutcome?.[status].with(idHash)
      if (older !== undefined) older.value = count
      total.with(idHash, status).value = count
      last.with(idHash, status).value = lastSeconds
    }
  })
}
