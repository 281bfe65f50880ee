/**
 * Writes docs/dashboards/keelson.json, a dashboard for Grafana, from the panels below. The file
 * must be formatted afterwards. test/integration/docs/dashboards.test.ts checks that it is up to
 * date.
 *
 *   node scripts/dashboard.ts            writes the file; then run `npm run format`
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Query = { readonly expr: string; readonly legend: string }
type Panel = {
  readonly title: string
  readonly unit: string
  readonly about?: string
  readonly queries: readonly Query[]
}
type Row = { readonly title: string; readonly panels: readonly Panel[] }

const on = 'instance=~"$instance"'
const q = (expr: string, legend: string): Query => ({ expr, legend })
const quantile = (bucket: string, by: string, labels = on): string =>
  `histogram_quantile(0.99, sum by (${by}, le) (rate(${bucket}{${labels}}[$__rate_interval])))`
const rate = (metric: string, by: string, labels = on): string =>
  `sum by (${by}) (rate(${metric}{${labels}}[$__rate_interval]))`

type SlowestPanel = { readonly bucket: string; readonly by: string; readonly about?: string }

const slowest = (title: string, { bucket, by, ...about }: SlowestPanel): Panel => ({
  title: `${title}, 99th percentile`,
  unit: 's',
  ...about,
  queries: [q(quantile(bucket, by), `{{${by}}}`)],
})

const rows: readonly Row[] = [
  {
    title: 'Requests',
    panels: [
      {
        title: 'Requests per second',
        unit: 'reqps',
        about: 'By verb. Watches are counted when they end.',
        queries: [q(rate('apiserver_request_total', 'verb'), '{{verb}}')],
      },
      {
        title: 'Responses by code',
        unit: 'reqps',
        queries: [
          q(rate('apiserver_request_total', 'code'), '{{code}}'),
          q(rate('keelson_refused_requests_total', 'code'), '{{code}} before any resource'),
        ],
      },
      {
        title: 'Duration, 99th percentile',
        unit: 's',
        about: 'Request duration without webhooks and queues.',
        queries: [
          q(
            quantile(
              'apiserver_request_sli_duration_seconds_bucket',
              'verb',
              `${on},verb!~"WATCH|CONNECT"`,
            ),
            '{{verb}}',
          ),
        ],
      },
      {
        title: 'Service level objective',
        unit: 'percentunit',
        about: 'Share of requests that failed or were slow. The error budget is 1 %.',
        queries: [
          q(`keelson:objective_missed:ratio_rate5m{${on}}`, '{{instance}} 5 min'),
          q(`keelson:objective_missed:ratio_rate1h{${on}}`, '{{instance}} 1 h'),
        ],
      },
      {
        title: 'Requests in progress',
        unit: 'short',
        about: 'Maximum of the last second, and open streams.',
        queries: [
          q(`apiserver_current_inflight_requests{${on}}`, '{{request_kind}}'),
          q(`sum(apiserver_longrunning_requests{${on}})`, 'streams'),
          q(`sum(apiserver_current_inqueue_requests{${on}})`, 'waiting'),
        ],
      },
      {
        title: 'Requests terminated to protect the server',
        unit: 'reqps',
        queries: [q(rate('apiserver_request_terminations_total', 'code'), '{{code}}')],
      },
    ],
  },
  {
    title: 'Latency',
    panels: [
      slowest('Filters before the handler', {
        bucket: 'apiserver_request_filter_duration_seconds_bucket',
        by: 'filter',
      }),
      slowest('etcd', { bucket: 'etcd_request_duration_seconds_bucket', by: 'operation' }),
      slowest('Reads that wait for etcd', {
        bucket: 'apiserver_watch_cache_read_wait_seconds_bucket',
        by: 'instance',
        about: 'Time until the cache was as recent as requested.',
      }),
      slowest('Admission', {
        bucket: 'apiserver_admission_step_admission_duration_seconds_bucket',
        by: 'type',
      }),
      slowest('Event loop lag', {
        bucket: 'keelson_event_loop_lag_seconds_bucket',
        by: 'instance',
        about: 'How long a request waits before the server starts to process it.',
      }),
      slowest('Event loop ticks', {
        bucket: 'keelson_event_loop_tick_seconds_bucket',
        by: 'instance',
        about: 'CPU time per tick without garbage collection. Other requests wait meanwhile.',
      }),
      {
        title: 'Garbage collection',
        unit: 'percentunit',
        about: 'Share of time in which the garbage collector stops the program.',
        queries: [q(rate('nodejs_gc_duration_seconds_sum', 'kind'), '{{kind}}')],
      },
    ],
  },
  {
    title: 'Memory and watches',
    panels: [
      {
        title: 'Objects',
        unit: 'short',
        about: 'The ten resources with the most objects.',
        queries: [q(`topk(10, apiserver_storage_objects{${on}})`, '{{resource}}')],
      },
      {
        title: 'Events to watchers',
        unit: 'ops',
        queries: [q(rate('apiserver_watch_events_total', 'kind'), '{{kind}}')],
      },
      {
        title: 'Watches',
        unit: 'short',
        queries: [
          q(`sum by (resource) (apiserver_registered_watchers{${on}}) > 0`, '{{resource}}'),
        ],
      },
      {
        title: 'Feed from etcd',
        unit: 'short',
        about: 'Proofs per second, reads per second that shared them, and lag in seconds.',
        queries: [
          q(rate('keelson_feed_proofs_total', 'instance'), 'proofs'),
          q(rate('keelson_feed_proven_reads_total', 'instance'), 'reads'),
          q(`keelson_feed_lag_seconds{${on}}`, 'lag'),
        ],
      },
      {
        title: 'Memory',
        unit: 'bytes',
        queries: [
          q(`process_resident_memory_bytes{${on}}`, 'process'),
          q(`nodejs_heap_used_bytes{${on}}`, 'heap'),
          q(`keelson_cache_bytes{${on}}`, 'objects {{state}}'),
        ],
      },
      {
        title: 'Budgets',
        unit: 'percentunit',
        about: 'Used share of each memory budget.',
        queries: [
          q(`keelson_budget_used_bytes{${on}} / keelson_budget_bytes{${on}}`, '{{budget}}'),
        ],
      },
    ],
  },
  {
    title: 'Connections and process',
    panels: [
      {
        title: 'Connections',
        unit: 'short',
        queries: [q(`keelson_open_connections{${on}}`, '{{instance}}')],
      },
      {
        title: 'TLS handshakes',
        unit: 'ops',
        queries: [
          q(
            rate('keelson_tls_handshakes_total', 'protocol, resumed'),
            '{{protocol}} resumed {{resumed}}',
          ),
          q(rate('apiserver_tls_handshake_errors_total', 'instance'), 'failed'),
        ],
      },
      {
        title: 'CPU',
        unit: 'short',
        about: 'Number of cores in use.',
        queries: [q(rate('process_cpu_seconds_total', 'instance'), '{{instance}}')],
      },
      {
        title: 'Database size',
        unit: 'bytes',
        queries: [q(`apiserver_storage_size_bytes{${on}}`, '{{storage_cluster_id}}')],
      },
    ],
  },
]

const WIDTH = 8
const HEIGHT = 7
const PER_LINE = 3

export function dashboard(): object {
  let y = 0
  let id = 0
  const panels: object[] = []
  for (const { title, panels: own } of rows) {
    panels.push({
      id: ++id,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y: y++, w: 24, h: 1 },
    })
    for (const [at, panel] of own.entries()) {
      const gridPos = {
        x: (at % PER_LINE) * WIDTH,
        y: y + Math.floor(at / PER_LINE) * HEIGHT,
        w: WIDTH,
        h: HEIGHT,
      }
      panels.push(panelOf(panel, ++id, gridPos))
    }
    y += Math.ceil(own.length / PER_LINE) * HEIGHT
  }
  return {
    uid: 'keelson',
    title: 'Keelson',
    tags: ['kubernetes', 'keelson'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        {
          name: 'instance',
          label: 'Server',
          type: 'query',
          datasource,
          query: { query: 'label_values(keelson_open_connections, instance)', refId: 'instance' },
          refresh: 2,
          multi: true,
          includeAll: true,
          allValue: '.*',
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    panels,
  }
}

const datasource = { type: 'prometheus', uid: '${datasource}' }

function panelOf({ title, unit, about, queries }: Panel, id: number, gridPos: object): object {
  return {
    id,
    type: 'timeseries',
    title,
    ...(about !== undefined && { description: about }),
    datasource,
    gridPos,
    fieldConfig: {
      defaults: { unit, min: 0, custom: { fillOpacity: 5, showPoints: 'never' } },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom' },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    targets: queries.map(({ expr, legend }, at) => ({
      refId: String.fromCharCode(65 + at),
      datasource,
      expr,
      legendFormat: legend,
    })),
  }
}

if (import.meta.main) {
  const file = join(import.meta.dirname, '..', 'docs', 'dashboards', 'keelson.json')
  writeFileSync(file, `${JSON.stringify(dashboard(), null, 2)}\n`)
}
