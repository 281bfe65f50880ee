/** Metrics of the cache, under upstream's names; computed when they are scraped. */
import type { Metrics } from '../lib/metrics.ts'
import type { Cache } from './cache.ts'

export function addCacheMetrics(metrics: Metrics, cache: Cache): void {
  const labels = ['resource']
  const objects = metrics.gauge({
    name: 'apiserver_storage_objects',
    help: 'How many objects there are of each resource that somebody reads.',
    stability: 'STABLE',
    labels,
  })
  const version = metrics.gauge({
    name: 'apiserver_watch_cache_resource_version',
    help: 'How far each resource has been followed.',
    labels,
  })
  const watchers = metrics.gauge({
    name: 'apiserver_registered_watchers',
    help: 'Watches that follow each resource now.',
    labels,
  })
  const bytes = metrics.gauge({
    name: 'keelson_cache_bytes',
    help: 'Memory that objects take: in use, and held.',
    labels: ['state'],
  })
  const storeReads = metrics
    .counter({
      name: 'keelson_cache_store_reads_total',
      help: 'Reads of resources that do not fit into memory, answered by the database.',
    })
    .with()
  const leftOut = metrics
    .gauge({
      name: 'keelson_cache_resources_left_out',
      help: 'Resources that do not fit into memory now.',
    })
    .with()
  metrics.onPrint(() => {
    for (const metric of [objects, version, watchers]) metric.clear()
    for (const one of cache.resources()) {
      objects.with(one.name).value = one.objects
      version.with(one.name).value = one.revision
      watchers.with(one.name).value = one.watchers
    }
    const { liveBytes, slabBytes } = cache.stats()
    bytes.with('used').value = liveBytes
    bytes.with('held').value = slabBytes
    const { ceiling } = cache
    if (ceiling.bytesMax !== Infinity) bytes.with('max').value = ceiling.bytesMax
    storeReads.value = ceiling.storeReads
    leftOut.value = ceiling.leftOut
  })
}
