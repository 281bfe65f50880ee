/**
 * The metric for the size of the database. Operators watch it so that they can act before etcd's
 * quota or a full disk stops all writes.
 */
import type { Metrics } from '../lib/telemetry/metrics.ts'

export function addStorageSize(
  metrics: Metrics,
  readSizes: readonly ((signal: AbortSignal) => Promise<number>)[],
): (signal: AbortSignal) => Promise<void> {
  const size = metrics.gauge({
    name: 'apiserver_storage_size_bytes',
    help: 'Size of the database on disk in bytes.',
    stability: 'STABLE',
    labels: ['storage_cluster_id'],
  })
  return async (signal) => {
    const ends = await Promise.allSettled(
      readSizes.map(async (read, at) => {
        // As in kube-apiserver, the label contains the index of the storage cluster.
        size.with(`etcd-${at}`).value = await read(signal)
      }),
    )
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }
}
