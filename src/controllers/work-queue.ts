/**
 * A queue of keys with the rules of client-go's rate limited queues: a waiting key is not queued twice, a key that is added while
 * it is processed is processed again, a failure is logged and retried with exponential backoff until it succeeds.
 */
import type { Log } from '../lib/log.ts'
import { systemTimers, type Timer, type Timers } from '../lib/timers.ts'

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
}

export class WorkQueue implements AsyncDisposable {
  readonly #options: WorkQueueOptions
  readonly #waiting = new Set<string>()
  readonly #running = new Map<string, Promise<void>>()
  /** The timers of keys that are queued again later. */
  readonly #timers = new Map<string, Timer>()
  readonly #failures = new Map<string, number>()
  #isStopped = false

  constructor(options: WorkQueueOptions) {
    this.#options = options
  }

  add(key: string): void {
    if (this.#isStopped) return
    this.#timers.get(key)?.close()
    this.#timers.delete(key)
    this.#waiting.add(key)
    this.#start()
  }

  /** Keys that are being processed are finished; no other is begun. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    this.#waiting.clear()
    for (const timer of this.#timers.values()) timer.close()
    this.#timers.clear()
    await Promise.all(this.#running.values())
  }

  #start(): void {
    for (const key of this.#waiting) {
      if (this.#running.size >= this.#options.workersMax) return
      if (this.#running.has(key)) continue
      this.#waiting.delete(key)
      this.#running.set(key, this.#run(key))
    }
  }

  async #run(key: string): Promise<void> {
    const againMs = await this.#workOn(key)
    this.#running.delete(key)
    if (this.#isStopped) return
    if (againMs !== undefined && !this.#waiting.has(key)) {
      const { after } = this.#options.timers ?? systemTimers
      this.#timers.set(
        key,
        after(againMs, () => this.add(key)),
      )
    }
    this.#start()
  }

  async #workOn(key: string): Promise<number | undefined> {
    const { name, work, log } = this.#options
    try {
      const againMs = await work(key)
      this.#failures.delete(key)
      return againMs
    } catch (error) {
      if (this.#isStopped) return undefined
      const failures = this.#failures.get(key) ?? 0
      this.#failures.set(key, failures + 1)
      const againMs = Math.min(RETRY_MS_FIRST * 2 ** failures, RETRY_MS_MAX)
      log('warn', `${name} failed; it is tried again`, { key, error: String(error), againMs })
      return againMs
    }
  }
}
