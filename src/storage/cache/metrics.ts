/** Metrics of the cache, under upstream's names; computed when they are scraped. */
import type { Counter, Gauge, Metrics } from '../../lib/telemetry/metrics.ts'
import type { Cache, ResourceStats } from './cache.ts'
import { readWaitBounds, type ResourceCounts } from './counts.ts'

/** `others`: of further databases, which have resources of their own. */
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
      help: 'How long reads waited until memory was as new as they asked for.',
      labels: ['resource'],
    },
    readWaitBounds,
  )
  metrics.onPrintInTurns(function* () {
    for (const { clear } of shown) clear()
    readWait.clear()
    // A cluster may have thousands of resources.
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
      // A kind that is served in two versions has the same objects in both.
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
      { ...storage, help: 'How many objects there are of each resource that somebody reads.' },
      'objects',
    ),
    gauge(
      {
        name: 'apiserver_watch_cache_resource_version',
        help: 'How far each resource has been followed.',
      },
      'revision',
    ),
    gauge(
      { name: 'apiserver_registered_watchers', help: 'Watches that follow each resource now.' },
      'watchers',
    ),
  ]
}

type NowStats = NonNullable<ResourceStats['now']>

/** Counters of each resource: the name, what it tells, and where it is counted. */
const counted: readonly (readonly [string, string, (counts: ResourceCounts) => number])[] = [
  [
    'apiserver_watch_cache_initializations_total',
    'How often a resource was listed as a whole.',
    ({ initialized }) => initialized,
  ],
  [
    'apiserver_watch_cache_events_received_total',
    'Events that came to the cache.',
    ({ received }) => received,
  ],
  [
    'apiserver_storage_events_received_total',
    'Events of the database.',
    ({ received }) => received,
  ],
  [
    'apiserver_watch_cache_events_dispatched_total',
    'Events that were handed on to watches, whether or not there were any.',
    ({ dispatched }) => dispatched,
  ],
  ['apiserver_init_events_total', 'Objects that watches began with.', ({ initial }) => initial],
  [
    'apiserver_terminated_watchers_total',
    'Watches that were ended since their client took events too slowly.',
    ({ tooSlow }) => tooSlow,
  ],
  [
    'keelson_watches_cut_by_gaps_total',
    'Watches that were ended since events were lost on their way to the cache; clients resume.',
    ({ gaps }) => gaps,
  ],
  ['apiserver_storage_list_total', 'Lists from the database.', ({ fromStore }) => fromStore.lists],
  [
    'apiserver_storage_list_fetched_objects_total',
    'Objects that such lists read.',
    ({ fromStore }) => fromStore.fetched,
  ],
  [
    'apiserver_storage_list_evaluated_objects_total',
    'Objects that were compared with a selector, if there is one.',
    ({ fromStore }) => fromStore.evaluated,
  ],
  [
    'apiserver_storage_list_returned_objects_total',
    'Objects that were returned.',
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
    help: 'Reads of the latest state: answered by the cache, or by the database since the feed was late.',
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
    help: 'Lists from memory.',
    labels: indexed,
  })
  const fetched = metrics.counter({
    name: 'apiserver_cache_list_fetched_objects_total',
    help: 'Objects that such lists looked at.',
    labels: indexed,
  })
  const returned = metrics.counter({
    name: 'apiserver_cache_list_returned_objects_total',
    help: 'Objects that were returned.',
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

/** What never happened has no series. */
function add(counter: Counter, value: number, ...values: readonly string[]): void {
  if (value > 0) counter.with(...values).add(value)
}

function set(gauge: Gauge, name: string, value: number): void {
  gauge.with(name).value = value
}

function addMemory(metrics: Metrics, cache: Cache, caches: readonly Cache[]): void {
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
  const ofBudget = ['budget']
  const used = metrics.gauge({
    name: 'keelson_budget_used_bytes',
    help: 'What is kept for later.',
    labels: ofBudget,
  })
  const max = metrics.gauge({
    name: 'keelson_budget_bytes',
    help: 'What may be kept for later.',
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
    // All of them share the ceiling.
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
    'Times that etcd was asked for its revision, so that memory may answer.',
  )
  const reads = counter('proven_reads', 'Reads and writes that shared these proofs.')
  const events = counter('events', 'Events that the feed from etcd had.')
  const reopenings = counter('reopenings', 'Times that the feed from etcd was opened again.')
  const losses = counter('losses', 'Times that etcd had compacted what the feed still needed.')
  const lag = metrics.gauge({
    name: 'keelson_feed_lag_seconds',
    help: 'For how long something is known to have been written that the feed has not told yet.',
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
