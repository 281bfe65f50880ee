/**
 * A queue of keys with the rules of client-go's rate limited queues: a waiting key is not queued
 * twice, a key that is added while it is processed is processed again, a failure is logged and
 * retried with exponential backoff until it succeeds.
 */
import type { Log } from '../telemetry/log.ts'
import { beginWork, Restores } from './restores.ts'
import { systemTime, type Timer, type Timers } from '../time/timers.ts'
import type { QueueMetrics, QueueSeries } from '../telemetry/queue-metrics.ts'

/** Waits after failures double from the first to the longest. */
const RETRY_MS_FIRST = 50
const RETRY_MS_MAX = 10_000

export type WorkQueueOptions = {
  /** For the log. */
  readonly name: string
  /** How many keys are processed concurrently. */
  readonly workersMax: number
  /** A number: the key is not done, and is to be processed again after so many ms. */
  readonly work: (key: string) => Promise<number | undefined>
  readonly log: Log
  readonly timers?: Timers
  /** Absent: nothing is measured. */
  readonly measured?: {
    readonly metrics: QueueMetrics
    /** As upstream names the queue. */
    readonly as: string
    readonly monotonicMs?: () => number
  }
}

export class WorkQueue implements AsyncDisposable {
  readonly #options: WorkQueueOptions
  readonly #timing: Timing | undefined
  readonly #waiting = new Set<string>()
  readonly #running = new Map<string, Promise<void>>()
  /** The timers of keys that are queued again later. */
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
    if (!this.#waiting.has(key)) this.#timing?.added(key)
    this.#waiting.add(key)
    this.#start()
  }

  /** Adds a key after some time, unless it is waiting already. */
  addAfter(key: string, ms: number): void {
    if (this.#isStopped || this.#waiting.has(key) || this.#timers.has(key)) return
    const { after } = this.#options.timers ?? systemTime
    this.#timers.set(
      key,
      after(ms, () => this.add(key)),
    )
  }

  /** Nothing is to be done with this key any more. If it is being processed, that is finished. */
  drop(key: string): void {
    if (this.#waiting.delete(key)) this.#timing?.dropped(key)
    this.#timers.get(key)?.close()
    this.#timers.delete(key)
    this.#failures.delete(key)
  }

  /** Keys that wait, now or for a retry, and those that are being processed. */
  get size(): number {
    return this.#waiting.size + this.#running.size + this.#timers.size
  }

  /** Keys that are being processed are finished; no other is begun. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    for (const key of this.#waiting) this.#timing?.dropped(key)
    this.#waiting.clear()
    for (const timer of this.#timers.values()) timer.close()
    this.#timers.clear()
    await Promise.all(this.#running.values())
    this.#timing?.[Symbol.dispose]()
  }

  #start(): void {
    for (const key of this.#waiting) {
      if (this.#running.size >= this.#options.workersMax) return
      if (this.#running.has(key)) continue
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
    if (againMs !== undefined) this.addAfter(key, againMs)
    this.#start()
  }

  async #workOn(key: string): Promise<number | undefined> {
    const { name, work, log } = this.#options
    const count = this.#restores?.count
    try {
      const againMs = await beginWork(this.#restores, () => work(key))
      this.#failures.delete(key)
      // After a restore the key is processed again: a write that was decided on the state before it
      // has been refused.
      return count === this.#restores?.count ? againMs : 0
    } catch (error) {
      if (this.#isStopped) return undefined
      if (count !== this.#restores?.count) return 0
      this.#timing?.retried()
      const failures = this.#failures.get(key) ?? 0
      this.#failures.set(key, failures + 1)
      const againMs = Math.min(RETRY_MS_FIRST * 2 ** failures, RETRY_MS_MAX)
      log('warn', `${name} failed; it is tried again`, { key, error: String(error), againMs })
      return againMs
    }
  }
}

/** When keys were added and begun. */
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
