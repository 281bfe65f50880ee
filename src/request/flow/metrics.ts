/** The metrics of flow control, under upstream's names. Series are looked up once for each flow schema and level, then only added to. */
import type { Count, Counter, Distribution, Gauge, Histogram, Metrics } from '../../lib/metrics.ts'
import { TimeRatio } from './time-ratio.ts'

const secondsBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]
const lengthBounds = [0, 10, 25, 50, 100, 250, 500, 1000]
const seatBounds = [1, 2, 4, 10]
const watchBounds = [0, 1, 10, 100, 1000, 10_000]
const demandBounds = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6]
const utilizationBounds = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1]
const requestBounds = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1]
const kindBounds = [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1]

/** Why a request is refused: the label of a metric. */
export type RefusalReason = 'queue-full' | 'concurrency-limit' | 'time-out'

/** Of one flow schema at one level. */
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

type Extremes = { readonly min: number; readonly max: number }

/** Of one level. */
export type LevelSeries = {
  readonly waiting: TimeRatio
  readonly executing: TimeRatio
  readonly seats: TimeRatio
  readonly demand: TimeRatio
  readonly currentR: Count
  readonly dispatchR: Count
  readonly latestS: Count
  /** Of the queues where somebody waits; undefined: nobody does. */
  readonly nextS: (starts: Extremes | undefined, discounted: Extremes | undefined) => void
  readonly nominal: Count
  readonly lower: Count
  readonly upper: Count
  readonly current: Count
  readonly target: Count
  readonly demandAverage: Count
  readonly demandDeviation: Count
  readonly demandHighWatermark: Count
  readonly demandSmoothed: Count
}

export type RequestKind = 'mutating' | 'readOnly'

/** Requests of one kind. */
export type KindSeries = {
  waiting: number
  executing: number
  readonly waitingTime: TimeRatio
  readonly executingTime: TimeRatio
}

const perFlow = ['flow_schema', 'priority_level']
const perLevel = ['priority_level']

export class FlowMetrics {
  readonly fairFraction: Count
  readonly kinds: { readonly [kind in RequestKind]: KindSeries }
  readonly #flows = new Map<string, FlowSeries>()
  readonly #levels = new Map<string, LevelSeries>()
  readonly #ofFlow: { readonly [name in FlowGauge | 'dispatched']: Gauge | Counter }
  readonly #ofLevel: { readonly [name in LevelGauge]: Gauge }
  /** Earlier names of two of them, for who has hidden metrics shown. */
  readonly #earlier: { readonly executingSeats: Gauge; readonly nominal: Gauge }
  readonly #refused: Counter
  readonly #notAccommodated: Counter
  readonly #queueLength: Histogram
  readonly #estimatedSeats: Histogram
  readonly #watchCounts: Histogram
  readonly #waitSeconds: Histogram
  readonly #executionSeconds: Histogram
  readonly #nextS: Gauge
  readonly #nextDiscountedS: Gauge
  readonly #requestUtilization: Histogram
  readonly #seatUtilization: Histogram
  readonly #demand: Histogram

  constructor(metrics: Metrics, nowMs: number) {
    const prefix = 'apiserver_flowcontrol_'
    const beta = 'BETA' as const
    const gauge = (
      name: string,
      help: string,
      labels: readonly string[],
      stability?: typeof beta,
    ): Gauge =>
      metrics.gauge({ name: `${prefix}${name}`, help, labels, ...(stability && { stability }) })
    const histogram = (
      name: string,
      help: string,
      labels: readonly string[],
      bounds: readonly number[],
    ): Histogram => metrics.histogram({ name: `${prefix}${name}`, help, labels }, bounds)
    this.#ofFlow = {
      dispatched: metrics.counter({
        name: `${prefix}dispatched_requests_total`,
        help: 'Requests that were begun, by flow schema and priority level.',
        stability: beta,
        labels: perFlow,
      }),
      executingRequests: gauge(
        'current_executing_requests',
        'Requests being served; of watches, their beginnings.',
        perFlow,
        beta,
      ),
      executingSeats: gauge('current_executing_seats', 'Seats that requests hold.', perFlow, beta),
      waitingRequests: gauge(
        'current_inqueue_requests',
        'Requests that wait in queues.',
        perFlow,
        beta,
      ),
      waitingSeats: gauge(
        'current_inqueue_seats',
        'Seats that requests in queues wait for.',
        perFlow,
      ),
    }
    this.#ofLevel = {
      currentR: gauge(
        'current_r',
        'Progress of a level, in seat-seconds for each queue.',
        perLevel,
      ),
      dispatchR: gauge('dispatch_r', 'Progress of a level when it last began a request.', perLevel),
      latestS: gauge('latest_s', 'Progress at which the last request was due to begin.', perLevel),
      nominal: gauge(
        'nominal_limit_seats',
        'Seats that a level has by its configuration.',
        perLevel,
        beta,
      ),
      lower: gauge(
        'lower_limit_seats',
        'Seats that a level keeps however much it lends.',
        perLevel,
      ),
      upper: gauge(
        'upper_limit_seats',
        'Seats that a level may have with all that it may borrow.',
        perLevel,
      ),
      current: gauge('current_limit_seats', 'Seats that a level has now.', perLevel),
      target: gauge(
        'target_seats',
        'Seats that a level is to be given, if there are enough.',
        perLevel,
      ),
      demandAverage: gauge(
        'demand_seats_average',
        'Seats that a level could use, on average over the last period.',
        perLevel,
      ),
      demandDeviation: gauge('demand_seats_stdev', 'The standard deviation of them.', perLevel),
      demandHighWatermark: gauge(
        'demand_seats_high_watermark',
        'The most of them in the last period.',
        perLevel,
      ),
      demandSmoothed: gauge(
        'demand_seats_smoothed',
        'Seats that a level could use, smoothed over the periods.',
        perLevel,
      ),
    }
    this.#earlier = {
      executingSeats: metrics.gauge({
        name: `${prefix}request_concurrency_in_use`,
        help: 'Seats that requests hold.',
        labels: perFlow,
        deprecatedSince: '1.31.0',
      }),
      nominal: metrics.gauge({
        name: `${prefix}request_concurrency_limit`,
        help: 'Seats that a level has by its configuration.',
        labels: perLevel,
        deprecatedSince: '1.30.0',
      }),
    }
    this.#refused = metrics.counter({
      name: `${prefix}rejected_requests_total`,
      help: 'Requests that were refused, and why.',
      stability: beta,
      labels: ['flow_schema', 'priority_level', 'reason'],
    })
    this.#notAccommodated = metrics.counter({
      name: `${prefix}request_dispatch_no_accommodation_total`,
      help: 'How often the next request needed more seats than were free.',
      labels: perFlow,
    })
    this.#waitSeconds = metrics.histogram(
      {
        name: `${prefix}request_wait_duration_seconds`,
        help: 'Time in queues.',
        stability: beta,
        labels: ['execute', 'flow_schema', 'priority_level'],
      },
      secondsBounds,
    )
    this.#executionSeconds = histogram(
      'request_execution_seconds',
      'Time from a seat to an answer.',
      [...perFlow, 'type'],
      secondsBounds,
    )
    this.#queueLength = histogram(
      'request_queue_length_after_enqueue',
      'Length of the queue that a request came to, with it.',
      perFlow,
      lengthBounds,
    )
    this.#estimatedSeats = histogram(
      'work_estimated_seats',
      'Seats that a request was estimated to need.',
      perFlow,
      seatBounds,
    )
    this.#watchCounts = histogram(
      'watch_count_samples',
      'Watches that a write has to be told to.',
      perFlow,
      watchBounds,
    )
    this.#nextS = gauge(
      'next_s_bounds',
      'Least and greatest progress at which queues begin their next request.',
      ['bound', ...perLevel],
    )
    this.#nextDiscountedS = gauge(
      'next_discounted_s_bounds',
      'The same, less what they execute now.',
      ['bound', ...perLevel],
    )
    this.#requestUtilization = histogram(
      'priority_level_request_utilization',
      'Nanoseconds by the share of its limit that the requests of a level took.',
      ['phase', ...perLevel],
      requestBounds,
    )
    this.#seatUtilization = histogram(
      'priority_level_seat_utilization',
      'Nanoseconds by the share of its seats that a level used.',
      ['phase', ...perLevel],
      utilizationBounds,
    )
    this.#demand = histogram(
      'demand_seats',
      'Nanoseconds by the share of its seats that a level could use.',
      perLevel,
      demandBounds,
    )
    const byKind = histogram(
      'read_vs_write_current_requests',
      'Nanoseconds by the share of their limit that reads and writes took.',
      ['phase', 'request_kind'],
      kindBounds,
    )
    const kind = (name: RequestKind): KindSeries => ({
      waiting: 0,
      executing: 0,
      waitingTime: new TimeRatio(byKind.with('waiting', name), { bounds: kindBounds, nowMs }),
      executingTime: new TimeRatio(byKind.with('executing', name), { bounds: kindBounds, nowMs }),
    })
    this.kinds = { mutating: kind('mutating'), readOnly: kind('readOnly') }
    this.fairFraction = metrics
      .gauge({
        name: `${prefix}seat_fair_frac`,
        help: 'What levels were last given, of what each of them wants.',
      })
      .with()
  }

  flow(schema: string, level: string): FlowSeries {
    const key = `${schema}/${level}`
    const known = this.#flows.get(key)
    if (known !== undefined) return known
    const labels = [schema, level]
    const gauges = this.#ofFlow
    const made: FlowSeries = {
      schema,
      level,
      dispatched: gauges.dispatched.with(...labels),
      executingRequests: gauges.executingRequests.with(...labels),
      executingSeats: gauges.executingSeats.with(...labels),
      waitingRequests: gauges.waitingRequests.with(...labels),
      waitingSeats: gauges.waitingSeats.with(...labels),
      notAccommodated: this.#notAccommodated.with(...labels),
      queueLength: once(() => this.#queueLength.with(...labels)),
      estimatedSeats: once(() => this.#estimatedSeats.with(...labels)),
      watchCounts: once(() => this.#watchCounts.with(...labels)),
      waitSeconds: bothOf((isExecuted) => this.#waitSeconds.with(`${isExecuted}`, ...labels)),
      executionSeconds: bothOf((isWatch) =>
        this.#executionSeconds.with(...labels, isWatch ? 'watch' : 'regular'),
      ),
      refused: (reason) => this.#refused.with(...labels, reason),
    }
    this.#earlier.executingSeats.adopt(made.executingSeats, ...labels)
    this.#flows.set(key, made)
    return made
  }

  /** The series of a schema that is gone, or went to another level. */
  forgetFlow(schema: string, level: string): void {
    if (!this.#flows.delete(`${schema}/${level}`)) return
    const labels = [schema, level]
    for (const metric of Object.values(this.#ofFlow)) metric.remove(...labels)
    this.#earlier.executingSeats.remove(...labels)
    for (const metric of [
      this.#notAccommodated,
      this.#queueLength,
      this.#estimatedSeats,
      this.#watchCounts,
    ]) {
      metric.remove(...labels)
    }
    for (const reason of ['queue-full', 'concurrency-limit', 'time-out'])
      this.#refused.remove(...labels, reason)
    for (const isExecuted of ['true', 'false']) this.#waitSeconds.remove(isExecuted, ...labels)
    for (const type of ['watch', 'regular']) this.#executionSeconds.remove(...labels, type)
  }

  level(name: string, nowMs: number): LevelSeries {
    const known = this.#levels.get(name)
    if (known !== undefined) return known
    const gauges = this.#ofLevel
    const of = (gauge: LevelGauge): Count => gauges[gauge].with(name)
    const requests = { bounds: requestBounds, nowMs }
    const made: LevelSeries = {
      waiting: new TimeRatio(this.#requestUtilization.with('waiting', name), requests),
      executing: new TimeRatio(this.#requestUtilization.with('executing', name), requests),
      seats: new TimeRatio(this.#seatUtilization.with('executing', name), {
        bounds: utilizationBounds,
        nowMs,
      }),
      demand: new TimeRatio(this.#demand.with(name), { bounds: demandBounds, nowMs }),
      currentR: of('currentR'),
      dispatchR: of('dispatchR'),
      latestS: of('latestS'),
      nominal: of('nominal'),
      lower: of('lower'),
      upper: of('upper'),
      current: of('current'),
      target: of('target'),
      demandAverage: of('demandAverage'),
      demandDeviation: of('demandDeviation'),
      demandHighWatermark: of('demandHighWatermark'),
      demandSmoothed: of('demandSmoothed'),
      nextS: (starts, discounted) => {
        for (const [metric, bounds] of [
          [this.#nextS, starts],
          [this.#nextDiscountedS, discounted],
        ] as const) {
          if (bounds === undefined) continue
          metric.with('min', name).value = bounds.min
          metric.with('max', name).value = bounds.max
        }
      },
    }
    this.#earlier.nominal.adopt(made.nominal, name)
    this.#levels.set(name, made)
    return made
  }

  forgetLevel(name: string): void {
    if (!this.#levels.delete(name)) return
    for (const gauge of Object.values(this.#ofLevel)) gauge.remove(name)
    this.#earlier.nominal.remove(name)
    this.#demand.remove(name)
    this.#seatUtilization.remove('executing', name)
    for (const phase of ['waiting', 'executing']) this.#requestUtilization.remove(phase, name)
    for (const bound of ['min', 'max'])
      for (const gauge of [this.#nextS, this.#nextDiscountedS]) gauge.remove(bound, name)
  }
}

type FlowGauge = 'executingRequests' | 'executingSeats' | 'waitingRequests' | 'waitingSeats'

type LevelGauge =
  | 'currentR'
  | 'dispatchR'
  | 'latestS'
  | 'nominal'
  | 'lower'
  | 'upper'
  | 'current'
  | 'target'
  | 'demandAverage'
  | 'demandDeviation'
  | 'demandHighWatermark'
  | 'demandSmoothed'

/** A series is printed even if it is empty: it is made when it is first needed. */
function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

function bothOf<T>(make: (is: boolean) => T): (is: boolean) => T {
  const [yes, no] = [once(() => make(true)), once(() => make(false))]
  return (is) => (is ? yes() : no())
}
