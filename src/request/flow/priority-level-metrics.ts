/** Metrics of API Priority and Fairness for each priority level. */
import type { Count, Gauge, Histogram, Metrics, Stability } from '../../lib/telemetry/metrics.ts'
import { TimeRatio } from '../../lib/telemetry/time-ratio.ts'

const labels = ['priority_level']

const requestBounds = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1]
const seatBounds = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1]
const demandBounds = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6]

type Extremes = { readonly min: number; readonly max: number }

/** Metric series of one priority level. */
export type LevelSeries = {
  readonly waiting: TimeRatio
  readonly executing: TimeRatio
  readonly seats: TimeRatio
  readonly demand: TimeRatio
  /**
   * Sets the minimum and the maximum of the progress (`R` in queue-set.ts) at which queues start
   * their next request. Both are undefined if no request is waiting in a queue.
   */
  readonly nextS: (starts: Extremes | undefined, discounted: Extremes | undefined) => void
} & { readonly [name in keyof LevelGauges]: Count }

export class PriorityLevelMetrics {
  readonly #known = new Map<string, LevelSeries>()
  readonly #gauges: LevelGauges
  /** Reports `nominal` under its former name, if deprecated metrics are shown. */
  readonly #deprecatedNominal: Gauge
  readonly #nextS: Gauge
  readonly #nextDiscountedS: Gauge
  readonly #utilization: UtilizationHistograms

  constructor(metrics: Metrics) {
    this.#gauges = createLevelGauges(metrics)
    this.#deprecatedNominal = metrics.gauge({
      name: 'apiserver_flowcontrol_request_concurrency_limit',
      help: 'Nominal number of seats of a priority level, according to its configuration.',
      labels,
      deprecatedSince: '1.30.0',
    })
    this.#nextS = metrics.gauge({
      name: 'apiserver_flowcontrol_next_s_bounds',
      help: 'Minimum and maximum over all queues of the virtual start time (fair queuing) of the next request, in seat-seconds.',
      labels: ['bound', ...labels],
    })
    this.#nextDiscountedS = metrics.gauge({
      name: 'apiserver_flowcontrol_next_discounted_s_bounds',
      help: 'Minimum and maximum over all queues of the virtual start time (fair queuing) of the next request, minus the estimated work of the executing requests of the queue, in seat-seconds.',
      labels: ['bound', ...labels],
    })
    this.#utilization = createUtilizationHistograms(metrics)
  }

  series(name: string, nowMs: number): LevelSeries {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const gauges = this.#gauges
    const { requests, seats, demand } = this.#utilization
    const ofRequests = { bounds: requestBounds, nowMs }
    const series: LevelSeries = {
      waiting: new TimeRatio(requests.with('waiting', name), ofRequests),
      executing: new TimeRatio(requests.with('executing', name), ofRequests),
      seats: new TimeRatio(seats.with('executing', name), { bounds: seatBounds, nowMs }),
      demand: new TimeRatio(demand.with(name), { bounds: demandBounds, nowMs }),
      currentR: gauges.currentR.with(name),
      dispatchR: gauges.dispatchR.with(name),
      latestS: gauges.latestS.with(name),
      nominal: gauges.nominal.with(name),
      lower: gauges.lower.with(name),
      upper: gauges.upper.with(name),
      current: gauges.current.with(name),
      target: gauges.target.with(name),
      demandAverage: gauges.demandAverage.with(name),
      demandDeviation: gauges.demandDeviation.with(name),
      demandHighWatermark: gauges.demandHighWatermark.with(name),
      demandSmoothed: gauges.demandSmoothed.with(name),
      nextS: (starts, discounted) => {
        setBounds(this.#nextS, name, starts)
        setBounds(this.#nextDiscountedS, name, discounted)
      },
    }
    this.#deprecatedNominal.adopt(series.nominal, name)
    this.#known.set(name, series)
    return series
  }

  /** Removes the metric series of a priority level that was deleted. */
  forget(name: string): void {
    if (!this.#known.delete(name)) return
    for (const gauge of Object.values(this.#gauges)) gauge.remove(name)
    this.#deprecatedNominal.remove(name)
    const { requests, seats, demand } = this.#utilization
    demand.remove(name)
    seats.remove('executing', name)
    for (const phase of ['waiting', 'executing']) requests.remove(phase, name)
    for (const bound of ['min', 'max'])
      for (const gauge of [this.#nextS, this.#nextDiscountedS]) gauge.remove(bound, name)
  }
}

function setBounds(gauge: Gauge, level: string, bounds: Extremes | undefined): void {
  if (bounds === undefined) return
  gauge.with('min', level).value = bounds.min
  gauge.with('max', level).value = bounds.max
}

type LevelGauges = ReturnType<typeof createLevelGauges>

function createLevelGauges(metrics: Metrics) {
  const gauge = (name: string, help: string, stability: Stability = 'ALPHA'): Gauge =>
    metrics.gauge({ name: `apiserver_flowcontrol_${name}`, help, labels, stability })
  return {
    currentR: gauge('current_r', 'Progress of a level, in seat-seconds per queue.'),
    dispatchR: gauge('dispatch_r', 'Progress of a level when it last started a request.'),
    latestS: gauge('latest_s', 'Progress at which the last request was due to start.'),
    nominal: gauge('nominal_limit_seats', 'Seats that a level has by its configuration.', 'BETA'),
    lower: gauge('lower_limit_seats', 'Seats that a level never lends.'),
    upper: gauge(
      'upper_limit_seats',
      'Maximum number of seats that a level may have, including borrowed seats.',
    ),
    current: gauge('current_limit_seats', 'Seats that a level has now.'),
    target: gauge('target_seats', 'Seats that a level gets if there are enough.'),
    demandAverage: gauge(
      'demand_seats_average',
      'Average number of seats that a level could have used in the last period.',
    ),
    demandDeviation: gauge(
      'demand_seats_stdev',
      'Standard deviation of the number of seats that a level could have used in the last period.',
    ),
    demandHighWatermark: gauge(
      'demand_seats_high_watermark',
      'Maximum number of seats that a level could have used in the last period.',
    ),
    demandSmoothed: gauge(
      'demand_seats_smoothed',
      'Number of seats that a level could have used, smoothed over several periods.',
    ),
  }
}

/**
 * Histograms of the time during which a value was at a certain fraction of its limit, in
 * nanoseconds (see `TimeRatio`).
 */
type UtilizationHistograms = {
  readonly requests: Histogram
  readonly seats: Histogram
  readonly demand: Histogram
}

function createUtilizationHistograms(metrics: Metrics): UtilizationHistograms {
  return {
    requests: metrics.histogram(
      {
        name: 'apiserver_flowcontrol_priority_level_request_utilization',
        help: 'Number of requests of a priority level as a fraction of its request limit, observed once per nanosecond.',
        labels: ['phase', ...labels],
      },
      requestBounds,
    ),
    seats: metrics.histogram(
      {
        name: 'apiserver_flowcontrol_priority_level_seat_utilization',
        help: 'Seats in use as a fraction of the current seats of a priority level, observed once per nanosecond.',
        labels: ['phase', ...labels],
      },
      seatBounds,
    ),
    demand: metrics.histogram(
      {
        name: 'apiserver_flowcontrol_demand_seats',
        help: 'Seat demand as a fraction of the current seats of a priority level, observed once per nanosecond.',
        labels,
      },
      demandBounds,
    ),
  }
}
