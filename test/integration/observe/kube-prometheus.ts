/**
 * Expressions of the kind that kube-prometheus and kubernetes-mixin evaluate for an API server,
 * written independently from the definitions of the metrics. They cover rates by code and resource,
 * availability over a month, burn rates of the objective, quantiles, work queues, certificates and
 * terminations.
 */
const job = 'job="apiserver"'
const reads = 'verb=~"LIST|GET"'
const writes = 'verb=~"POST|PUT|PATCH|DELETE"'
const noStreams = 'subresource!~"proxy|attach|log|exec|portforward"'
const sli = 'apiserver_request_sli_duration_seconds'

const slowReads = (range: string): string => `
  sum by (job) (rate(${sli}_count{${job},${reads},${noStreams}}[${range}]))
  - (
    sum by (job) (rate(${sli}_bucket{${job},${reads},${noStreams},scope=~"resource|",le=~"1(.0)?"}[${range}]))
    + sum by (job) (rate(${sli}_bucket{${job},${reads},${noStreams},scope="namespace",le=~"5(.0)?"}[${range}]))
    + sum by (job) (rate(${sli}_bucket{${job},${reads},${noStreams},scope="cluster",le=~"30(.0)?"}[${range}]))
  )`

const slowWrites = (range: string): string => `
  sum by (job) (rate(${sli}_count{${job},${writes},${noStreams}}[${range}]))
  - sum by (job) (rate(${sli}_bucket{${job},${writes},${noStreams},le=~"1(.0)?"}[${range}]))`

const errors = (verbs: string, range: string): string =>
  `sum by (job) (rate(apiserver_request_total{${job},${verbs},code=~"5.."}[${range}]))`
const all = (verbs: string, range: string): string =>
  `sum by (job) (rate(apiserver_request_total{${job},${verbs}}[${range}]))`

/**
 * Returns the expression of a burn rate. If there is no series for errors, their number counts as
 * 0. kube-apiserver has no such series before the first failed request.
 */
const burn = (verbs: string, slow: string, range: string): string =>
  `((${slow}) + (${errors(verbs, range)} or 0 * ${all(verbs, range)})) / ${all(verbs, range)}`

export const kubePrometheusQueries: readonly string[] = [
  ...['5m', '30m', '1h', '2h', '6h', '1d', '3d'].flatMap((range) => [
    burn(reads, slowReads(range), range),
    burn(writes, slowWrites(range), range),
  ]),
  `sum by (code, resource) (rate(apiserver_request_total{${job},${reads}}[5m]))`,
  `sum by (code, resource) (rate(apiserver_request_total{${job},${writes}}[5m]))`,
  `sum by (code, verb) (increase(apiserver_request_total{${job},${reads},code=~"2.."}[1h]))`,
  `sum by (code, verb) (increase(apiserver_request_total{${job},${writes},code=~"4.."}[1h]))`,
  // The original expression evaluates each full hour ([30d:1h]), but a test does not run that long.
  `avg_over_time(sum by (code, verb) (increase(apiserver_request_total{${job}}[1h]))[1h:5s])`,
  `sum by (verb, scope, le) (increase(${sli}_bucket{${job}}[1h]))`,
  `sum by (verb, scope) (increase(${sli}_count{${job}}[1h]))`,
  `histogram_quantile(0.99, sum by (le, resource) (rate(${sli}_bucket{${job},${reads},${noStreams}}[5m])))`,
  `histogram_quantile(0.99, sum by (le, resource) (rate(${sli}_bucket{${job},${writes},${noStreams}}[5m])))`,
  `sum by (job) (rate(apiserver_request_terminations_total{${job}}[10m])) / (sum by (job) (rate(apiserver_request_total{${job}}[10m])) + sum by (job) (rate(apiserver_request_terminations_total{${job}}[10m])))`,
  `histogram_quantile(0.01, sum by (job, le) (rate(apiserver_client_certificate_expiration_seconds_bucket{${job}}[5m])))`,
  `apiserver_client_certificate_expiration_seconds_count{${job}}`,
  `absent(up{job="none"})`,
  `sum(rate(workqueue_adds_total{${job}}[5m])) by (instance, name)`,
  `sum(rate(workqueue_depth{${job}}[5m])) by (instance, name)`,
  `histogram_quantile(0.99, sum(rate(workqueue_queue_duration_seconds_bucket{${job}}[5m])) by (instance, name, le))`,
  `process_resident_memory_bytes{${job}}`,
  `rate(process_cpu_seconds_total{${job}}[5m])`,
  `histogram_quantile(0.99, sum by (le, operation, type) (rate(etcd_request_duration_seconds_bucket{${job}}[5m])))`,
  `sum by (resource) (apiserver_storage_objects{${job}})`,
  `sum(apiserver_current_inflight_requests{${job}}) by (request_kind)`,
  `sum by (verb) (apiserver_longrunning_requests{${job}})`,
  `topk(5, sum by (kind) (rate(apiserver_watch_events_total{${job}}[5m])))`,
  `sum by (status) (kubernetes_feature_enabled{${job}})`,
]
