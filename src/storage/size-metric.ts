/**
 * The size of the database, which an operator watches before the quota of etcd, or the disk, ends
 * all writes.
 */
import type { Metrics } from '../lib/telemetry/metrics.ts'

export function addStorageSize(
  metrics: Metrics,
  readSizes: readonly ((signal: AbortSignal) => Promise<number>)[],
): (signal: AbortSignal) => Promise<void> {
  const size = metrics.gauge({
    name: 'apiserver_storage_size_bytes',
    help: 'Bytes that the file of the database takes.',
    stability: 'STABLE',
    labels: ['storage_cluster_id'],
  })
  return async (signal) => {
    const ends = await Promise.allSettled(
      readSizes.map(async (read, at) => {
        // Upstream numbers the clusters.
        size.with(`etcd-${at}`).value = await read(signal)
      }),
    )
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }
}
