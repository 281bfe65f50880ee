/**
 * Metrics of served requests: their number, their duration, and the size of requests and responses.
 */
import {
  Count,
  type Counter,
  type Distribution,
  type Gauge,
  type Histogram,
  type Metrics,
} from '../../lib/telemetry/metrics.ts'

const secondsBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45,
  60,
]
export const sliBounds: readonly number[] = secondsBounds.slice(2)
const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
const bodyBounds = Array.from({ length: 31 }, (_, at) => 50_000 + at * 100_000)

/** Labels that describe the target of a request. */
export const requestLabels: readonly string[] = [
  'component',
  'group',
  'resource',
  'scope',
  'subresource',
  'verb',
  'version',
]
const labelsWithDryRun = [
  'component',
  'dry_run',
  'group',
  'resource',
  'scope',
  'subresource',
  'verb',
  'version',
]

/** The first release that does not measure the durations of dry runs without those of webhooks. */
const DRY_RUNS_OMITTED_SINCE = 35

/** Metric series of one kind of request. They are looked up only once. */
export type RequestSeries = {
  readonly seconds: Distribution
  /** Durations without the time of webhooks and queues. Undefined if they are not measured. */
  readonly sliSeconds: Distribution | undefined
  /**
   * Like `sliSeconds`, but under its former name. This metric is hidden unless
   * --show-hidden-metrics-for-version is set.
   */
  readonly sloSeconds: Distribution | undefined
  /**
   * Sizes of responses. Undefined for writes, because kube-apiserver measures only the responses to
   * reads.
   */
  readonly bytes: Distribution | undefined
  readonly bodyBytes: Distribution | undefined
  readonly totals: Map<number, Count>
  readonly total: (code: number) => Count
  /**
   * Number of long-running requests in progress. Undefined if requests of this series are not
   * long-running.
   */
  readonly longRunning: Count | undefined
  /** Returns the counter for requests that the server sends to itself. */
  readonly own: () => Count
  readonly remove: () => void
}

type SeriesLabels = {
  readonly [name in
    | 'component'
    | 'group'
    | 'plural'
    | 'scope'
    | 'subresource'
    | 'verb'
    | 'version'
    | 'dryRun']: string
}

export class ServedRequestMetrics {
  readonly total: Counter
  readonly #own: Counter
  readonly #seconds: Histogram
  readonly #sliSeconds: Histogram
  readonly #sloSeconds: Histogram
  readonly #bytes: Histogram
  readonly #bodyBytes: Histogram
  readonly #longRunning: Gauge

  constructor(metrics: Metrics) {
    const stability = 'STABLE'
    const labels = requestLabels
    this.total = metrics.counter({
      name: 'apiserver_request_total',
      help: 'Number of completed requests, by target and response code.',
      stability,
      labels: ['code', ...labelsWithDryRun],
    })
    this.#own = metrics.counter({
      name: 'apiserver_selfrequest_total',
      help: 'Number of requests that the server sent to itself.',
      labels: ['resource', 'subresource', 'verb'],
    })
    this.#seconds = metrics.histogram(
      {
        name: 'apiserver_request_duration_seconds',
        help: 'Response time of requests in seconds.',
        stability,
        labels: labelsWithDryRun,
      },
      secondsBounds,
    )
    const help = 'Response time of requests, without webhook calls and the wait for a seat.'
    this.#sliSeconds = metrics.histogram(
      { name: 'apiserver_request_sli_duration_seconds', help, labels },
      sliBounds,
    )
    this.#sloSeconds = metrics.histogram(
      {
        name: 'apiserver_request_slo_duration_seconds',
        help,
        labels,
        deprecatedSince: '1.27.0',
      },
      sliBounds,
    )
    this.#bytes = metrics.histogram(
      {
        name: 'apiserver_response_sizes',
        help: 'Size of responses to reads, in bytes.',
        stability,
        labels,
      },
      sizeBounds,
    )
    this.#bodyBytes = metrics.histogram(
      {
        name: 'apiserver_request_body_size_bytes',
        help: 'Size of request bodies, in bytes.',
        labels: ['resource', 'verb'],
      },
      bodyBounds,
    )
    this.#longRunning = metrics.gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Number of watches and other streams that are currently open.',
      stability,
      labels,
    })
  }

  /**
   * Creates the series. `bodyVerb` is the label of body sizes, or undefined if bodies are not
   * measured. `release` is the minor version of the release.
   */
  series(labels: SeriesLabels, bodyVerb: string | undefined, release: number): RequestSeries {
    const { component, group, plural, scope, subresource, verb, version, dryRun } = labels
    const values = [component, group, plural, scope, subresource, verb, version]
    const valuesWithDryRun = [component, dryRun, ...values.slice(1)]
    const totals = new Map<number, Count>()
    const isRead = plural === '' || verb === 'GET' || verb === 'LIST'
    const isLong = verb === 'WATCH' || verb === 'CONNECT'
    const body = [group === '' ? plural : `${plural}.${group}`, bodyVerb ?? ''] as const
    const hasOwnDuration = dryRun === '' || release < DRY_RUNS_OMITTED_SINCE
    let isRemoved = false
    return {
      seconds: this.#seconds.with(...valuesWithDryRun),
      sliSeconds: hasOwnDuration ? this.#sliSeconds.with(...values) : undefined,
      sloSeconds: hasOwnDuration ? this.#sloSeconds.with(...values) : undefined,
      bytes: isRead ? this.#bytes.with(...values) : undefined,
      bodyBytes: bodyVerb === undefined ? undefined : this.#bodyBytes.with(...body),
      totals,
      total: (code) => {
        const known = totals.get(code)
        if (known !== undefined) return known
        // The request ended after its resource had been removed. Count it in a counter that is not
        // reported.
        if (isRemoved) return new Count()
        const count = this.total.with(`${code}`, ...valuesWithDryRun)
        totals.set(code, count)
        return count
      },
      longRunning: isLong ? this.#longRunning.with(...values) : undefined,
      own: () => (isRemoved ? new Count() : this.#own.with(plural, subresource, verb)),
      remove: () => {
        isRemoved = true
        this.#seconds.remove(...valuesWithDryRun)
        for (const metric of [this.#sliSeconds, this.#sloSeconds, this.#bytes, this.#longRunning])
          metric.remove(...values)
        this.#bodyBytes.remove(...body)
        this.#own.remove(plural, subresource, verb)
        for (const code of totals.keys()) this.total.remove(`${code}`, ...valuesWithDryRun)
      },
    }
  }
}
