/** A priority level at work: its seats and queues, and what it lends and borrows. */
import type { Time } from '../../lib/time/timers.ts'
import type { FlowMetrics } from './metrics.ts'
import type { LevelSeries } from './priority-level-metrics.ts'
import type { LevelSpec } from './priority-level.ts'
import { QueueSet } from './queue-set.ts'
import { RetryAfter } from './retry-after.ts'
import { SeatDemand } from './seat-demand.ts'
import { SEATS_MAX } from './work-estimate.ts'

/**
 * A single request takes at most this share of a level's seats: wide ones would leave most of them
 * unused while they wait for each other.
 */
const REQUEST_SHARE_MAX = 0.15

export type LevelOptions = {
  readonly time: Time
  readonly metrics: FlowMetrics
  readonly onIdle: (level: Level) => void
}

export class Level {
  spec: LevelSpec
  /** Its object is gone: it ends when the last of its requests has. */
  isQuiescing = false
  /**
   * By configuration; how many of them it always keeps; how many it may have with what others lend.
   */
  nominal = 0
  lower = 0
  upper = 0
  /** Undefined before the seats were first divided. */
  current: number | undefined
  /** What one request may take. */
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

  /** `serverSeats`: of all levels together. */
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
   * The fewest seats that it needs now, by what it used in the last period: never less than it
   * keeps, nor more than it has.
   */
  get needed(): number {
    const { highWatermark, average, deviation } = this.demand
    // Anybody may send probes of health by the hundred, which are answered at once: unlike
    // upstream, what exempt requests take from others is not their peak.
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
    // A level without seats is shown by a tenth of the server's.
    const limit = seats > 0 ? seats : Math.max(1, Math.round(serverSeats / 10))
    for (const ratio of [series.demand, series.seats, series.executing])
      ratio.setLimit(limit, nowMs)
    const { queuing } = spec
    series.waiting.setLimit(queuing === undefined ? 1 : queuing.queues * queuing.lengthMax, nowMs)
    this.queues.configure({ isExempt: spec.isExempt, queuing, seats })
  }
}
