/**
 * Starts something and, if that fails, tries it again until it succeeds or is not wanted any more.
 */
import type { Log } from '../lib/telemetry/log.ts'
import { systemTimers, type Timer, type Timers } from '../lib/time/timers.ts'

/** Waits double from the first to the longest. */
const RETRY_MS_FIRST = 1_000
const RETRY_MS_MAX = 60_000

export type RetriedStartOptions = {
  /** For the log. */
  readonly name: string
  /** Leaves nothing behind if it throws. */
  readonly start: () => AsyncDisposable
  readonly log: Log
  readonly timers?: Pick<Timers, 'after'>
}

export class RetriedStart implements AsyncDisposable {
  readonly #options: RetriedStartOptions
  #started: AsyncDisposable | undefined
  #retry: Timer | undefined

  /** Never throws. */
  constructor(options: RetriedStartOptions) {
    this.#options = options
    this.#start(RETRY_MS_FIRST)
  }

  #start(againMs: number): void {
    const { name, start, log, timers = systemTimers } = this.#options
    try {
      this.#started = start()
    } catch (error) {
      log('error', `${name} could not be started; it is tried again`, {
        error: String(error),
        againMs,
      })
      this.#retry = timers.after(againMs, () => this.#start(Math.min(2 * againMs, RETRY_MS_MAX)))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#retry?.close()
    await this.#started?.[Symbol.asyncDispose]()
  }
}
