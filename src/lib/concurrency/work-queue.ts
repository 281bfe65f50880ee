/**
 * A queue of keys with the rules of client-go's rate-limiting queues. A key that is already waiting
 * is not queued twice. A key that is added while it is being processed is processed again. A
 * failure is logged, and the key is retried with exponential backoff until it succeeds.
 */
import type { Log } from '../telemetry/log.ts'
import { beginWork, Restores } from './restores.ts'
import { systemTime, type Timer, type Timers } from '../time/timers.ts'
import type { QueueMetrics, QueueSeries } from '../telemetry/queue-metrics.ts'

/** Initial and maximum delay after failures. The delay doubles after each failure. */
const RETRY_MS_FIRST = 50
const RETRY_MS_MAX = 10_000

export type WorkQueueOptions = {
  /** The name of the work in log messages. */
  readonly name: string
  /** Maximum number of keys that are processed concurrently. */
  readonly workersMax: number
  /**
   * Processes a key. If the promise resolves to a number, the key is not done and is processed
   * again after this number of milliseconds.
   */
  readonly work: (key: string) => Promise<number | undefined>
  readonly log: Log
  readonly timers?: Timers
  /** The metrics of the queue. Absent if they are not recorded. */
  readonly measured?: {
    readonly metrics: QueueMetrics
    /** The name of the queue in metrics. It is the same as in Kubernetes. */
    readonly as: string
    readonly monotonicMs?: () => number
  }
}

export class WorkQueue implements AsyncDisposable {
  readonly #options: WorkQueueOptions
  readonly #timing: Timing | undefined
  /** Keys that wait for a worker. None of them is being processed. */
  readonly #waiting = new Set<string>()
  /**
   * Iterates over `#waiting`. Each key is deleted when it has been visited. V8 keeps deleted
   * entries at the front of a Set for a while, and a new iterator would have to skip them. Visiting
   * n keys would then take time proportional to n², so a single iterator is used.
   */
  readonly #order = this.#waiting.values()
  /** Keys that were added while they were being processed, and that are queued afterwards. */
  readonly #repeated = new Set<string>()
  readonly #running = new Map<string, Promise<void>>()
  /** The timers of keys that will be queued again later. */
  readonly #timers = new Map<string, Timer>()
  readonly #failures = new Map<string, number>()
  readonly #restores = Restores.current()
  #isStopped = false

  constructor(options: WorkQueueOptions) {
    this.#options = options
    this.#timing = options.measured && new Timing(options.measured)
  }

  add(key: string): void {
    if (this.#isStopped) return
    this.#timers.get(key)?.close()
    this.#timers.delete(key)
    if (!this.#isQueued(key)) this.#timing?.added(key)
    if (this.#running.has(key)) this.#repeated.add(key)
    else this.#waiting.add(key)
    this.#start()
  }

  /** Adds a key after a delay, unless the key is already waiting. */
  addAfter(key: string, ms: number): void {
    if (this.#isStopped || this.#isQueued(key) || this.#timers.has(key)) return
    const { after } = this.#options.timers ?? systemTime
    this.#timers.set(
      key,
      after(ms, () => this.add(key)),
    )
  }

  /** Drops a key. If the key is being processed, the processing is not interrupted. */
  drop(key: string): void {
    if (this.#waiting.delete(key) || this.#repeated.delete(key)) this.#timing?.dropped(key)
    this.#timers.get(key)?.close()
    this.#timers.delete(key)
    this.#failures.delete(key)
  }

  /** Number of keys that are being processed, or are waiting for a worker or a retry. */
  get size(): number {
    return this.#waiting.size + this.#repeated.size + this.#running.size + this.#timers.size
  }

  /** Stops the queue. Keys that are being processed are finished; no other key is processed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    for (const queued of [this.#waiting, this.#repeated]) {
      for (const key of queued) this.#timing?.dropped(key)
      queued.clear()
    }
    for (const timer of this.#timers.values()) timer.close()
    this.#timers.clear()
    await Promise.all(this.#running.values())
    this.#timing?.[Symbol.dispose]()
  }

  #isQueued(key: string): boolean {
    return this.#waiting.has(key) || this.#repeated.has(key)
  }

  #start(): void {
    // Do not call `next` while no key is waiting: an iterator that has reached the end of a Set
    // never returns another key.
    while (this.#waiting.size > 0 && this.#running.size < this.#options.workersMax) {
      const { value: key } = this.#order.next()
      if (key === undefined) return
      this.#waiting.delete(key)
      this.#timing?.begun(key)
      this.#running.set(key, this.#run(key))
    }
  }

  async #run(key: string): Promise<void> {
    const againMs = await this.#workOn(key)
    this.#running.delete(key)
    this.#timing?.ended(key)
    if (this.#isStopped) return
    if (this.#repeated.delete(key)) this.#waiting.add(key)
    if (againMs !== undefined) this.addAfter(key, againMs)
    this.#start()
  }

  async #workOn(key: string): Promise<number | undefined> {
    const { name, work, log } = this.#options
    const count = this.#restores?.count
    try {
      const againMs = await beginWork(this.#restores, () => work(key))
      this.#failures.delete(key)
      // After a restore, the key is processed again, because writes that were based on the state
      // before the restore were rejected.
      return count === this.#restores?.count ? againMs : 0
    } catch (error) {
      if (this.#isStopped) return undefined
      if (count !== this.#restores?.count) return 0
      this.#timing?.retried()
      const failures = this.#failures.get(key) ?? 0
      this.#failures.set(key, failures + 1)
      const againMs = Math.min(RETRY_MS_FIRST * 2 ** failures, RETRY_MS_MAX)
      log('warn', `${name} failed; retrying`, { key, error: String(error), againMs })
      return againMs
    }
  }
}

/** Records how long keys wait and how long they are processed, for the metrics of a queue. */
class Timing implements Disposable {
  readonly #series: QueueSeries
  readonly #monotonicMs: () => number
  readonly #addedMs = new Map<string, number>()
  readonly #begunMs = new Map<string, number>()

  constructor({
    metrics,
    as,
    monotonicMs = systemTime.monotonicMs,
  }: NonNullable<WorkQueueOptions['measured']>) {
    this.#monotonicMs = monotonicMs
    this.#series = metrics.of(as, () =>
      Array.from(this.#begunMs.values(), (begunMs) => monotonicMs() - begunMs),
    )
  }

  added(key: string): void {
    this.#series.adds.add()
    this.#series.depth.add()
    this.#addedMs.set(key, this.#monotonicMs())
  }

  begun(key: string): void {
    const now = this.#monotonicMs()
    this.#series.waitSeconds.observe((now - (this.#addedMs.get(key) ?? now)) / 1000)
    this.dropped(key)
    this.#begunMs.set(key, now)
  }

  dropped(key: string): void {
    this.#series.depth.add(-1)
    this.#addedMs.delete(key)
  }

  ended(key: string): void {
    const now = this.#monotonicMs()
    this.#series.workSeconds.observe((now - (this.#begunMs.get(key) ?? now)) / 1000)
    this.#begunMs.delete(key)
  }

  retried(): void {
    this.#series.retries.add()
  }

  [Symbol.dispose](): void {
    this.#series[Symbol.dispose]()
  }
}
