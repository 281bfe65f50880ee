import type { Log } from '../telemetry/log.ts'
import { beginWork, Restores } from './restores.ts'
import { sleep, TIMER_MS_MAX, type Timers } from '../time/timers.ts'

export type LoopOptions = {
  /** The name of the task in log messages. */
  readonly name: string
  readonly intervalMs: number
  /** Whether the task was already run during startup. If so, it runs again after one interval. */
  readonly isDoneAtStart?: boolean
  readonly run: (signal: AbortSignal) => Promise<void>
  readonly log: Log
  /** Timers of the loop. The default is system timers that do not keep the process alive. */
  readonly timers?: Pick<Timers, 'after'> | undefined
}

/** System timers that do not keep the process alive. */
const unrefTimers: Pick<Timers, 'after'> = {
  after: (ms, run) => setTimeout(run, Math.min(ms, TIMER_MS_MAX)).unref(),
}

/**
 * Runs a task repeatedly: immediately, unless it was already run during startup, and then after
 * each interval. Failures are logged.
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
    // `sleep` rejects only when the server stops. The loop below then ends, so ignore the error
    // here.
    const pause = (): Promise<void> => sleep(timers, intervalMs, signal).catch(() => undefined)
    if (isDoneAtStart) await pause()
    while (!signal.aborted) {
      const count = this.#restores?.count
      try {
        await beginWork(this.#restores, () => run(signal))
      } catch (error) {
        // The database was restored during the run, so the task used an outdated state. Run it
        // again immediately.
        if (count !== this.#restores?.count) continue
        if (!signal.aborted) log('warn', `${name} failed; retrying`, { error: String(error) })
      }
      await pause()
    }
  }
}
