/** Metrics of API Priority and Fairness for each pair of a flow schema and its priority level. */
import type {
  Count,
  Counter,
  Distribution,
  Gauge,
  Histogram,
  Metrics,
} from '../../lib/telemetry/metrics.ts'

const labels = ['flow_schema', 'priority_level']

const secondsBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]
const lengthBounds = [0, 10, 25, 50, 100, 250, 500, 1000]
const seatBounds = [1, 2, 4, 10]
const watchBounds = [0, 1, 10, 100, 1000, 10_000]

/** Reason why a request is rejected. Metrics have a label with this reason. */
export type RefusalReason = 'queue-full' | 'concurrency-limit' | 'time-out'

/** Metric series of one flow schema at one priority level. */
export type FlowSeries = {
  readonly schema: string
  readonly level: string
  readonly dispatched: Count
  readonly executingRequests: Count
  readonly executingSeats: Count
  readonly waitingRequests: Count
  readonly waitingSeats: Count
  readonly notAccommodated: Count
  readonly queueLength: () => Distribution
  readonly estimatedSeats: () => Distribution
  readonly watchCounts: () => Distribution
  readonly waitSeconds: (isExecuted: boolean) => Distribution
  readonly executionSeconds: (isWatch: boolean) => Distribution
  readonly refused: (reason: RefusalReason) => Count
}

export class FlowSchemaMetrics {
  readonly #known = new Map<string, FlowSeries>()
  readonly #requests: RequestCounts
  readonly #samples: SampleHistograms

  constructor(metrics: Metrics) {
    this.#requests = createRequestCounts(metrics)
    this.#samples = createSampleHistograms(metrics)
  }

  series(schema: string, level: string): FlowSeries {
    const key = `${schema}/${level}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const values = [schema, level]
    const requests = this.#requests
    const samples = this.#samples
    const series: FlowSeries = {
      schema,
      level,
      dispatched: requests.dispatched.with(...values),
      executingRequests: requests.executingRequests.with(...values),
      executingSeats: requests.executingSeats.with(...values),
      waitingRequests: requests.waitingRequests.with(...values),
      waitingSeats: requests.waitingSeats.with(...values),
      notAccommodated: requests.notAccommodated.with(...values),
      queueLength: once(() => samples.queueLength.with(...values)),
      estimatedSeats: once(() => samples.estimatedSeats.with(...values)),
      watchCounts: once(() => samples.watchCounts.with(...values)),
      waitSeconds: bothOf((isExecuted) => samples.waitSeconds.with(`${isExecuted}`, ...values)),
      executionSeconds: bothOf((isWatch) =>
        samples.executionSeconds.with(...values, isWatch ? 'watch' : 'regular'),
      ),
      refused: (reason) => requests.refused.with(...values, reason),
    }
    requests.deprecatedExecutingSeats.adopt(series.executingSeats, ...values)
    this.#known.set(key, series)
    return series
  }

  /**
   * Removes the series of a flow schema that was deleted or now references another priority level.
   */
  forget(schema: string, level: string): void {
    if (!this.#known.delete(`${schema}/${level}`)) return
    const values = [schema, level]
    const { refused, ...requests } = this.#requests
    const { waitSeconds, executionSeconds, ...samples } = this.#samples
    for (const metric of [...Object.values(requests), ...Object.values(samples)])
      metric.remove(...values)
    for (const reason of ['queue-full', 'concurrency-limit', 'time-out'])
      refused.remove(...values, reason)
    for (const isExecuted of ['true', 'false']) waitSeconds.remove(isExecuted, ...values)
    for (const type of ['watch', 'regular']) executionSeconds.remove(...values, type)
  }
}

/** Numbers of requests, of the seats that they hold, and of the seats for which they wait. */
type RequestCounts = {
  readonly dispatched: Counter
  readonly refused: Counter
  readonly notAccommodated: Counter
  readonly executingRequests: Gauge
  readonly executingSeats: Gauge
  /** Reports `executingSeats` under its former name, if deprecated metrics are shown. */
  readonly deprecatedExecutingSeats: Gauge
  readonly waitingRequests: Gauge
  readonly waitingSeats: Gauge
}

function createRequestCounts(metrics: Metrics): RequestCounts {
  const stability = 'BETA'
  return {
    dispatched: metrics.counter({
      name: 'apiserver_flowcontrol_dispatched_requests_total',
      help: 'Number of requests that started executing, by flow schema and priority level.',
      stability,
      labels,
    }),
    refused: metrics.counter({
      name: 'apiserver_flowcontrol_rejected_requests_total',
      help: 'Number of rejected requests, by reason.',
      stability,
      labels: [...labels, 'reason'],
    }),
    notAccommodated: metrics.counter({
      name: 'apiserver_flowcontrol_request_dispatch_no_accommodation_total',
      help: 'Number of times that the first request in a queue had to keep waiting because it needed more seats than were free.',
      labels,
    }),
    executingRequests: metrics.gauge({
      name: 'apiserver_flowcontrol_current_executing_requests',
      help: 'Number of requests that are executing. A watch is counted until the existing objects have been sent.',
      stability,
      labels,
    }),
    executingSeats: metrics.gauge({
      name: 'apiserver_flowcontrol_current_executing_seats',
      help: 'Number of seats that executing requests hold.',
      stability,
      labels,
    }),
    deprecatedExecutingSeats: metrics.gauge({
      name: 'apiserver_flowcontrol_request_concurrency_in_use',
      help: 'Number of seats that executing requests hold.',
      labels,
      deprecatedSince: '1.31.0',
    }),
    waitingRequests: metrics.gauge({
      name: 'apiserver_flowcontrol_current_inqueue_requests',
      help: 'Number of requests that are waiting in queues.',
      stability,
      labels,
    }),
    waitingSeats: metrics.gauge({
      name: 'apiserver_flowcontrol_current_inqueue_seats',
      help: 'Number of seats for which requests in queues are waiting.',
      labels,
    }),
  }
}

/** Histograms of durations, of queue lengths, and of estimates for requests. */
type SampleHistograms = {
  readonly waitSeconds: Histogram
  readonly executionSeconds: Histogram
  readonly queueLength: Histogram
  readonly estimatedSeats: Histogram
  readonly watchCounts: Histogram
}

function createSampleHistograms(metrics: Metrics): SampleHistograms {
  return {
    waitSeconds: metrics.histogram(
      {
        name: 'apiserver_flowcontrol_request_wait_duration_seconds',
        help: 'Time in seconds that requests waited in queues.',
        stability: 'BETA',
        labels: ['execute', ...labels],
      },
      secondsBounds,
    ),
    executionSeconds: metrics.histogram(
      {
        name: 'apiserver_flowcontrol_request_execution_seconds',
        help: 'Time in seconds from the start of the execution of a request to its response.',
        labels: [...labels, 'type'],
      },
      secondsBounds,
    ),
    queueLength: metrics.histogram(
      {
        name: 'apiserver_flowcontrol_request_queue_length_after_enqueue',
        help: 'Length of a queue after a request was added to it.',
        labels,
      },
      lengthBounds,
    ),
    estimatedSeats: metrics.histogram(
      {
        name: 'apiserver_flowcontrol_work_estimated_seats',
        help: 'Estimated number of seats that a request needs.',
        labels,
      },
      seatBounds,
    ),
    watchCounts: metrics.histogram(
      {
        name: 'apiserver_flowcontrol_watch_count_samples',
        help: 'Number of watches that a write has to notify.',
        labels,
      },
      watchBounds,
    ),
  }
}

/**
 * Returns a function that creates a series when it is called for the first time. Even an empty
 * series would appear in the output.
 */
function once<T>(create: () => T): () => T {
  let created: T | undefined
  return () => (created ??= create())
}

function bothOf<T>(create: (is: boolean) => T): (is: boolean) => T {
  const [yes, no] = [once(() => create(true)), once(() => create(false))]
  return (is) => (is ? yes() : no())
}
