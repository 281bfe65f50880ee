/** The size of the database, which an operator watches before the quota of etcd, or the disk, ends all writes. */
import type { Metrics } from '../lib/metrics.ts'

export function addStorageSize(
  metrics: Metrics,
  readSize: (signal: AbortSignal) => Promise<number>,
): (signal: AbortSignal) => Promise<void> {
  const size = metrics.gauge({
    name: 'apiserver_storage_size_bytes',
    help: 'Bytes that the file of the database takes.',
    stability: 'STABLE',
    labels: ['storage_cluster_id'],
  })
  return async (signal) => {
    size.with(CLUSTER_ID).value = await readSize(signal)
  }
}

/** Upstream numbers the clusters; here there is one. */
const CLUSTER_ID = 'etcd-0'
