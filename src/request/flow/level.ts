/** A priority level at runtime: its seats, its queues, and the seats that it lends and borrows. */
import type { Time } from '../../lib/time/timers.ts'
import type { FlowMetrics } from './metrics.ts'
import type { LevelSeries } from './priority-level-metrics.ts'
import type { LevelSpec } from './priority-level.ts'
import { QueueSet } from './queue-set.ts'
import { RetryAfter } from './retry-after.ts'
import { SeatDemand } from './seat-demand.ts'
import { SEATS_MAX } from './work-estimate.ts'

/**
 * Maximum share of a priority level's seats that a single request can take. If a request needed
 * more seats, most seats would be unused while it waits for them.
 */
const REQUEST_SHARE_MAX = 0.15

export type LevelOptions = {
  readonly time: Time
  readonly metrics: FlowMetrics
  readonly onIdle: (level: Level) => void
}

export class Level {
  spec: LevelSpec
  /**
   * Whether the object of the priority level was deleted. The level is removed when its last
   * request ends.
   */
  isQuiescing = false
  /**
   * Seats according to the configuration. `lower` is the number that is never lent, and `upper` is
   * the maximum including borrowed seats.
   */
  nominal = 0
  lower = 0
  upper = 0
  /** Current number of seats. Undefined until the seats are divided for the first time. */
  current: number | undefined
  /** Maximum number of seats that one request can take. */
  requestSeatsMax = SEATS_MAX
  readonly queues: QueueSet
  readonly demand: SeatDemand
  readonly series: LevelSeries
  readonly retryAfter = new RetryAfter()
  readonly #time: Time

  constructor(spec: LevelSpec, { time, metrics, onIdle }: LevelOptions) {
    this.spec = spec
    this.#time = time
    const nowMs = time.monotonicMs()
    this.series = metrics.levels.series(spec.name, nowMs)
    this.demand = new SeatDemand(nowMs)
    const { isExempt, queuing } = spec
    const parts = { time, series: this.series, demand: this.demand, onIdle: () => onIdle(this) }
    this.queues = new QueueSet({ isExempt, queuing, seats: 0 }, parts)
  }

  /**
   * Computes the limits of the priority level. `serverSeats` is the number of seats of all levels
   * together.
   */
  setLimits(serverSeats: number, shareSum: number): void {
    const { shares, lendablePercent, borrowingLimitPercent, queuing } = this.spec
    this.nominal = shareSum === 0 ? 0 : Math.ceil((serverSeats * shares) / shareSum)
    const part = (percent: number): number => Math.round((this.nominal * percent) / 100)
    const lendable = part(lendablePercent)
    this.lower = this.nominal - lendable
    this.upper =
      this.nominal +
      (borrowingLimitPercent === undefined ? serverSeats : part(borrowingLimitPercent))
    this.series.nominal.value = this.nominal
    this.series.lower.value = this.lower
    this.series.upper.value = this.upper
    if (queuing !== undefined) {
      const most = Math.min(
        Math.ceil(this.nominal * REQUEST_SHARE_MAX),
        Math.floor(this.nominal / queuing.handSize),
      )
      this.requestSeatsMax = Math.max(1, most)
    } else this.requestSeatsMax = SEATS_MAX
    this.current ??= this.nominal - Math.floor(lendable / 2)
  }

  /**
   * Minimum number of seats that the priority level currently needs, based on its use in the last
   * period. For a limited level, it is at least the number that is never lent, and at most the
   * nominal number.
   */
  get needed(): number {
    const { highWatermark, average, deviation } = this.demand
    // Exempt requests include health probes, which are answered immediately and of which any client
    // can send hundreds. Unlike in kube-apiserver, peaks of exempt requests are therefore limited.
    // Otherwise they would take seats from other priority levels.
    if (this.spec.isExempt)
      return Math.max(this.lower, Math.min(highWatermark, Math.ceil(average + deviation)))
    return Math.max(this.lower, Math.min(this.nominal, highWatermark))
  }

  get target(): number {
    return Math.max(this.needed, this.demand.smoothed)
  }

  setCurrent(seats: number, serverSeats: number): void {
    this.current = seats
    const { series, demand, spec } = this
    series.current.value = seats
    series.target.value = this.target
    series.demandAverage.value = demand.average
    series.demandDeviation.value = demand.deviation
    series.demandHighWatermark.value = demand.highWatermark
    series.demandSmoothed.value = demand.smoothed
    const nowMs = this.#time.monotonicMs()
    // The metrics are ratios of the level's seats. If the level has no seats, the metrics are
    // instead relative to a tenth of the server's seats.
    const limit = seats > 0 ? seats : Math.max(1, Math.round(serverSeats / 10))
    for (const ratio of [series.demand, series.seats, series.executing])
      ratio.setLimit(limit, nowMs)
    const { queuing } = spec
    series.waiting.setLimit(queuing === undefined ? 1 : queuing.queues * queuing.lengthMax, nowMs)
    this.queues.configure({ isExempt: spec.isExempt, queuing, seats })
  }
}
