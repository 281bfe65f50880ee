/** The size of etcd's database, which an operator watches before the quota of etcd ends all writes. */
import type { Maintenance } from '../etcd/maintenance.ts'
import type { Metrics } from '../lib/metrics.ts'

/** Upstream's interval. */
export const SIZE_POLL_MS = 30_000

/** Asks the member that is connected, and shows its answer. */
export function addStorageSize(
  metrics: Metrics,
  maintenance: Pick<Maintenance, 'status'>,
): (signal: AbortSignal) => Promise<void> {
  const size = metrics.gauge({
    name: 'apiserver_storage_size_bytes',
    help: 'Bytes that the file of the database takes.',
    stability: 'STABLE',
    labels: ['storage_cluster_id'],
  })
  return async (signal) => {
    const { dbSizeBytes } = await maintenance.status({ signal })
    size.with(CLUSTER_ID).value = dbSizeBytes
  }
}

/** Upstream numbers the clusters; here there is one. */
const CLUSTER_ID = 'etcd-0'
