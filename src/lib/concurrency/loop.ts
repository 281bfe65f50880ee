import type { Log } from '../telemetry/log.ts'
import { beginWork, Restores } from './restores.ts'
import { sleep, TIMER_MS_MAX, type Timers } from '../time/timers.ts'

export type LoopOptions = {
  /** The name of the task in log messages. */
  readonly name: string
  readonly intervalMs: number
  /**
   * Whether the start of the server has just run the task, so that the first run is after one
   * interval.
   */
  readonly isDoneAtStart?: boolean
  readonly run: (signal: AbortSignal) => Promise<void>
  readonly log: Log
  /** Defaults to system timers that do not keep the process alive. */
  readonly timers?: Pick<Timers, 'after'> | undefined
}

/** System timers that do not keep the process alive. */
const unrefTimers: Pick<Timers, 'after'> = {
  after: (ms, run) => setTimeout(run, Math.min(ms, TIMER_MS_MAX)).unref(),
}

/**
 * Runs a task repeatedly while the server is up: at once, unless the start of the server has run
 * it, then after each interval. Failures are logged.
 */
export class Loop implements AsyncDisposable {
  readonly #options: LoopOptions
  readonly #stopping = new AbortController()
  readonly #restores = Restores.current()
  readonly #running: Promise<void>

  constructor(options: LoopOptions) {
    this.#options = options
    this.#running = this.#go()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #go(): Promise<void> {
    const { signal } = this.#stopping
    const {
      name,
      intervalMs,
      isDoneAtStart = false,
      run,
      log,
      timers = unrefTimers,
    } = this.#options
    // `sleep` rejects only when the server stops, which the loop checks.
    const pause = (): Promise<void> => sleep(timers, intervalMs, signal).catch(() => undefined)
    if (isDoneAtStart) await pause()
    while (!signal.aborted) {
      const count = this.#restores?.count
      try {
        await beginWork(this.#restores, () => run(signal))
      } catch (error) {
        // The task decided by the state before a restore, so it runs again at once.
        if (count !== this.#restores?.count) continue
        if (!signal.aborted) log('warn', `${name} failed; retrying`, { error: String(error) })
      }
      await pause()
    }
  }
}
