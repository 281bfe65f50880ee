import type { Log } from '../telemetry/log.ts'
import { beginWork, Restores } from './restores.ts'
import { sleep, TIMER_MS_MAX, type Timers } from '../time/timers.ts'

export type LoopOptions = {
  /** For the log. */
  readonly name: string
  readonly intervalMs: number
  /** The start of the server has just done it, so the first run is after one interval. */
  readonly isDoneAtStart?: boolean
  readonly run: (signal: AbortSignal) => Promise<void>
  readonly log: Log
  /** Absent: those of the system. */
  readonly timers?: Pick<Timers, 'after'> | undefined
}

/** A loop alone does not keep the process alive. */
const unrefTimers: Pick<Timers, 'after'> = {
  after: (ms, run) => setTimeout(run, Math.min(ms, TIMER_MS_MAX)).unref(),
}

/**
 * Runs something repeatedly while the server is up: at once, unless the start has done it, then
 * after each interval. Failures are logged.
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
    // Rejects only when the server stops, which the loop checks.
    const pause = (): Promise<void> => sleep(timers, intervalMs, signal).catch(() => undefined)
    if (isDoneAtStart) await pause()
    while (!signal.aborted) {
      const count = this.#restores?.count
      try {
        await beginWork(this.#restores, () => run(signal))
      } catch (error) {
        // It was decided on the state before a restore, and is decided again.
        if (count !== this.#restores?.count) continue
        if (!signal.aborted)
          log('warn', `${name} failed; it is tried again`, { error: String(error) })
      }
      await pause()
    }
  }
}
