/** The metrics of work queues, as in client-go. */
import type {
  Count,
  Counter,
  Distribution,
  Gauge,
  Histogram,
  MetricOptions,
  Metrics,
} from './metrics.ts'

/**
 * Bucket bounds from 10 ns to 10 s, each ten times the previous one. They have the same rounding
 * errors as in client-go, because Prometheus compares the bounds as text.
 */
const bounds = [10e-9]
while (bounds.length < 10) bounds.push((bounds.at(-1) ?? 0) * 10)

/**
 * The series of one queue. Disposing of them ends the calls of the queue's ReadRunning function.
 */
export type QueueSeries = Disposable & {
  readonly depth: Count
  readonly adds: Count
  readonly retries: Count
  readonly waitSeconds: Distribution
  readonly workSeconds: Distribution
}

/**
 * Returns for how many milliseconds each key that is in progress has been processed. Called before
 * each scrape.
 */
type ReadRunning = () => readonly number[]

export class QueueMetrics {
  readonly #depth: Gauge
  readonly #adds: Counter
  readonly #retries: Counter
  readonly #wait: Histogram
  readonly #work: Histogram
  readonly #unfinished: Gauge
  readonly #longest: Gauge
  readonly #running = new Map<string, Set<ReadRunning>>()

  constructor(metrics: Metrics) {
    this.#depth = metrics.gauge(named('depth', 'Current depth of workqueue'))
    this.#adds = metrics.counter(named('adds_total', 'Total number of adds handled by workqueue'))
    this.#retries = metrics.counter(
      named('retries_total', 'Total number of retries handled by workqueue'),
    )
    const waitHelp = 'How long in seconds an item stays in workqueue before being requested.'
    this.#wait = metrics.histogram(named('queue_duration_seconds', waitHelp), bounds)
    const workHelp = 'How long in seconds processing an item from workqueue takes.'
    this.#work = metrics.histogram(named('work_duration_seconds', workHelp), bounds)
    const unfinishedHelp =
      "How many seconds of work has done that is in progress and hasn't been observed by work_duration. "
    const stuckHelp =
      'Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.'
    this.#unfinished = metrics.gauge(named('unfinished_work_seconds', unfinishedHelp + stuckHelp))
    const longestHelp =
      'How many seconds has the longest running processor for workqueue been running.'
    this.#longest = metrics.gauge(named('longest_running_processor_seconds', longestHelp))
    metrics.onPrint(() => this.#update())
  }

  /**
   * Returns the series of a queue. If several queues have the same name, their values are added up.
   */
  of(name: string, running: ReadRunning): QueueSeries {
    const all = this.#running.get(name) ?? new Set()
    this.#running.set(name, all.add(running))
    return {
      depth: this.#depth.with(name),
      adds: this.#adds.with(name),
      retries: this.#retries.with(name),
      waitSeconds: this.#wait.with(name),
      workSeconds: this.#work.with(name),
      [Symbol.dispose]: () => void all.delete(running),
    }
  }

  #update(): void {
    for (const [name, queues] of this.#running) {
      const all = [...queues].flatMap((running) => running())
      this.#unfinished.with(name).value = all.reduce((sum, ms) => sum + ms, 0) / 1000
      // Bounded: `all` has one item for each busy worker.
      this.#longest.with(name).value = Math.max(0, ...all) / 1000
    }
  }
}

const named = (name: string, help: string): MetricOptions => ({
  name: `workqueue_${name}`,
  help,
  labels: ['name'],
})
