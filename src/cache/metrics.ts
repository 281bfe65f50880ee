/** Metrics of the cache, under upstream's names; computed when they are scraped. */
import type { Metrics } from '../lib/metrics.ts'
import type { Cache } from './cache.ts'

/** `caches`: one for each database. */
export function addCacheMetrics(metrics: Metrics, caches: readonly Cache[]): void {
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
  metrics.onPrint(() => {
    for (const metric of [objects, version, watchers]) metric.clear()
    let [used, held] = [0, 0]
    for (const cache of caches) {
      for (const one of cache.resources()) {
        objects.with(one.name).value = one.objects
        version.with(one.name).value = one.revision
        watchers.with(one.name).value = one.watchers
      }
      const { liveBytes, slabBytes } = cache.stats()
      used += liveBytes
      held += slabBytes
    }
    bytes.with('used').value = used
    bytes.with('held').value = held
  })
}
