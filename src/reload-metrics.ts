/** The metrics of a configuration file that is reloaded, as upstream. */
import { hash } from 'node:crypto'
import type { Reloads } from './config/files/reload.ts'
import type { Metrics } from './lib/metrics.ts'

export type ReloadMetricsOptions = {
  readonly what: 'authentication' | 'authorization' | 'encryption'
  /** The name of this server. */
  readonly serverId: string
  readonly reloads: () => Reloads
}

export function addReloadMetrics(metrics: Metrics, { what, serverId, reloads }: ReloadMetricsOptions): void {
  const about = (name: string, help: string) => ({
    name: `apiserver_${what}_config_controller_${name}`,
    help: `${help} of ${what} configuration split by status and apiserver identity.`,
    labels: ['apiserver_id_hash', 'status'],
  })
  const total = metrics.counter(about('automatic_reloads_total', 'Total number of automatic reloads'))
  const last = metrics.gauge(about('automatic_reload_last_timestamp_seconds', 'Timestamp of the last automatic reload'))
  const idHash = `sha256:${hash('sha256', serverId)}`
  metrics.onPrint(() => {
    for (const [status, { count, lastSeconds }] of Object.entries(reloads())) {
      if (count === 0) continue
      total.with(idHash, status).value = count
      last.with(idHash, status).value = lastSeconds
    }
  })
}
