/**
 * Metrics of the cache. Their values are computed when the metrics are scraped. Where
 * kube-apiserver has the same metric, its name is used.
 */
import type { Counter, Gauge, Metrics } from '../../lib/telemetry/metrics.ts'
import type { Cache, ResourceStats } from './cache.ts'
import { readWaitBounds, type ResourceCounts } from './counts.ts'

/**
 * Adds the metrics of all caches. `others` are the caches of other databases, which contain other
 * resources.
 */
export function addCacheMetrics(
  metrics: Metrics,
  cache: Cache,
  others: readonly Cache[] = [],
): void {
  const caches = [cache, ...others]
  const shown = [...currentMetrics(metrics), ...resourceCounters(metrics), listCounters(metrics)]
  const readWait = metrics.histogram(
    {
      name: 'apiserver_watch_cache_read_wait_seconds',
      help: 'Time that reads waited until the watch cache was as recent as requested.',
      labels: ['resource'],
    },
    readWaitBounds,
  )
  metrics.onPrintInTurns(function* () {
    for (const { clear } of shown) clear()
    readWait.clear()
    // Yield after each resource, so that other work can run: a cluster can have thousands of
    // resources.
    for (const one of caches.flatMap((each) => [...each.resources()])) {
      for (const { show } of shown) show(one)
      if (one.counts.readWait.count > 0) readWait.adopt(one.counts.readWait, one.name)
      yield
    }
  })
  addMemory(metrics, cache, caches)
  addFeed(metrics, cache)
}

type MetricView = { readonly clear: () => void; readonly show: (one: ResourceStats) => void }

const labels = ['resource']

function currentMetrics(metrics: Metrics): readonly MetricView[] {
  const gauge = (
    options: { name: string; help: string; stability?: 'STABLE' },
    what: keyof NowStats,
  ): MetricView => {
    const made = metrics.gauge({ ...options, labels })
    return {
      clear: () => made.clear(),
      // If a kind is served in two versions, add up only the watchers of both versions. The other
      // values of the two versions are the same, because both versions contain the same objects.
      show: ({ name, now }) => {
        if (now !== undefined)
          made.with(name).value =
            what === 'watchers' ? made.with(name).value + now[what] : now[what]
      },
    }
  }
  const storage = { name: 'apiserver_storage_objects', stability: 'STABLE' } as const
  return [
    gauge(
      { ...storage, help: 'Number of stored objects, for each resource in the watch cache.' },
      'objects',
    ),
    gauge(
      {
        name: 'apiserver_watch_cache_resource_version',
        help: 'Resource version that the watch cache of each resource has reached.',
      },
      'revision',
    ),
    gauge(
      { name: 'apiserver_registered_watchers', help: 'Number of open watches of each resource.' },
      'watchers',
    ),
  ]
}

type NowStats = NonNullable<ResourceStats['now']>

/** Counters of each resource: the name, the help, and the function that reads the value. */
const counted: readonly (readonly [string, string, (counts: ResourceCounts) => number])[] = [
  [
    'apiserver_watch_cache_initializations_total',
    'Number of times that a whole resource was listed into the watch cache.',
    ({ initialized }) => initialized,
  ],
  [
    'apiserver_watch_cache_events_received_total',
    'Number of events that the watch cache received.',
    ({ received }) => received,
  ],
  [
    'apiserver_storage_events_received_total',
    'Number of events received from the database.',
    ({ received }) => received,
  ],
  [
    'apiserver_watch_cache_events_dispatched_total',
    'Number of events dispatched to the watches of a resource, whether or not it had any.',
    ({ dispatched }) => dispatched,
  ],
  [
    'apiserver_init_events_total',
    'Number of objects sent as the initial state of watches.',
    ({ initial }) => initial,
  ],
  [
    'apiserver_terminated_watchers_total',
    'Number of watches closed because their client read events too slowly.',
    ({ tooSlow }) => tooSlow,
  ],
  [
    'keelson_watches_cut_by_gaps_total',
    'Number of watches closed because events were lost on their way to the cache. Their clients resume.',
    ({ gaps }) => gaps,
  ],
  [
    'apiserver_storage_list_total',
    'Number of lists read from the database.',
    ({ fromStore }) => fromStore.lists,
  ],
  [
    'apiserver_storage_list_fetched_objects_total',
    'Number of objects fetched by lists from the database.',
    ({ fromStore }) => fromStore.fetched,
  ],
  [
    'apiserver_storage_list_evaluated_objects_total',
    'Number of objects that lists from the database tested against their selector, if they had one.',
    ({ fromStore }) => fromStore.evaluated,
  ],
  [
    'apiserver_storage_list_returned_objects_total',
    'Number of objects returned by lists from the database.',
    ({ fromStore }) => fromStore.returned,
  ],
]

function resourceCounters(metrics: Metrics): readonly MetricView[] {
  const plain = counted.map(([name, help, read]): MetricView => {
    const counter = metrics.counter({ name, help, labels })
    return { clear: () => counter.clear(), show: (one) => add(counter, read(one.counts), one.name) }
  })
  const consistent = metrics.counter({
    name: 'apiserver_watch_cache_consistent_read_total',
    help: 'Number of consistent reads. If the cache could not serve a read in time, success is false, and the database serves the read (fallback).',
    labels: ['fallback', 'resource', 'success'],
  })
  return [
    ...plain,
    {
      clear: () => consistent.clear(),
      show: ({ name, counts }) => {
        add(consistent, counts.consistent, 'false', name, 'true')
        add(consistent, counts.fellBack, 'true', name, 'false')
      },
    },
  ]
}

function listCounters(metrics: Metrics): MetricView {
  const indexed = ['index', 'resource_prefix']
  const total = metrics.counter({
    name: 'apiserver_cache_list_total',
    help: 'Number of lists served from the cache.',
    labels: indexed,
  })
  const fetched = metrics.counter({
    name: 'apiserver_cache_list_fetched_objects_total',
    help: 'Number of objects examined by lists from the cache.',
    labels: indexed,
  })
  const returned = metrics.counter({
    name: 'apiserver_cache_list_returned_objects_total',
    help: 'Number of objects returned by lists from the cache.',
    labels: ['resource_prefix'],
  })
  return {
    clear: () => {
      for (const counter of [total, fetched, returned]) counter.clear()
    },
    show: ({ prefix, counts }) => {
      for (const [index, lists] of counts.fromMemory) {
        add(total, lists.lists, index, prefix)
        add(fetched, lists.fetched, index, prefix)
        add(returned, lists.returned, prefix)
      }
    },
  }
}

/** Adds a value to a series. A value of 0 does not create the series. */
function add(counter: Counter, value: number, ...values: readonly string[]): void {
  if (value > 0) counter.with(...values).add(value)
}

function set(gauge: Gauge, name: string, value: number): void {
  gauge.with(name).value = value
}

function addMemory(metrics: Metrics, cache: Cache, caches: readonly Cache[]): void {
  const bytes = metrics.gauge({
    name: 'keelson_cache_bytes',
    help: 'Memory of cached objects in bytes: used by objects (used), reserved for objects (held), and the limit if there is one (max).',
    labels: ['state'],
  })
  const storeReads = metrics
    .counter({
      name: 'keelson_cache_store_reads_total',
      help: 'Number of reads served from the database because their resource does not fit into memory.',
    })
    .with()
  const leftOut = metrics
    .gauge({
      name: 'keelson_cache_resources_left_out',
      help: 'Number of resources that currently do not fit into memory.',
    })
    .with()
  const ofBudget = ['budget']
  const used = metrics.gauge({
    name: 'keelson_budget_used_bytes',
    help: 'Memory in bytes of data that can be evicted, by memory budget.',
    labels: ofBudget,
  })
  const max = metrics.gauge({
    name: 'keelson_budget_bytes',
    help: 'Maximum memory in bytes of data that can be evicted, by memory budget.',
    labels: ofBudget,
  })
  metrics.onPrint(() => {
    const stats = caches.map((each) => each.stats())
    set(
      bytes,
      'used',
      stats.reduce((sum, { liveBytes }) => sum + liveBytes, 0),
    )
    set(
      bytes,
      'held',
      stats.reduce((sum, { slabBytes }) => sum + slabBytes, 0),
    )
    // All caches share one memory limit.
    if (cache.ceiling.bytesMax !== Infinity) set(bytes, 'max', cache.ceiling.bytesMax)
    storeReads.value = caches.reduce((sum, { ceiling }) => sum + ceiling.storeReads, 0)
    leftOut.value = caches.reduce((sum, { ceiling }) => sum + ceiling.leftOut, 0)
    for (const [name, budget] of Object.entries(cache.budgets())) {
      set(used, name, budget.bytes)
      set(max, name, budget.bytesMax)
    }
  })
}

function addFeed(metrics: Metrics, cache: Cache): void {
  const counter = (name: string, help: string) =>
    metrics.counter({ name: `keelson_feed_${name}_total`, help }).with()
  const proofs = counter(
    'proofs',
    'Number of requests for the current revision of etcd, which allow reads to be served from memory.',
  )
  const reads = counter('proven_reads', 'Number of reads and writes that shared these requests.')
  const events = counter('events', 'Number of events received by the feed from etcd.')
  const reopenings = counter('reopenings', 'Number of times that the feed from etcd was reopened.')
  const losses = counter(
    'losses',
    'Number of times that etcd had compacted events that the feed still needed.',
  )
  const lag = metrics.gauge({
    name: 'keelson_feed_lag_seconds',
    help: 'Time in seconds since the received events fell behind the latest known revision of etcd. 0 if they are not behind.',
  })
  metrics.onPrint(() => {
    const { feed } = cache
    proofs.value = feed.proofs
    reads.value = feed.reads
    events.value = feed.events
    reopenings.value = feed.reopenings
    losses.value = feed.losses
    lag.with().value = feed.lagMs / 1000
  })
}
