/**
 * Starts a part of the server. A failed start is retried until it succeeds or until this object is
 * disposed of.
 */
import type { Log } from '../lib/telemetry/log.ts'
import { systemTimers, type Timer, type Timers } from '../lib/time/timers.ts'

/** Initial and maximum delay between attempts. The delay doubles after each attempt. */
const RETRY_MS_FIRST = 1_000
const RETRY_MS_MAX = 60_000

export type RetriedStartOptions = {
  /** Name of the started part of the server in log messages. */
  readonly name: string
  /** Starts the part of the server. If this function throws, it must leave nothing running. */
  readonly start: () => AsyncDisposable
  readonly log: Log
  readonly timers?: Pick<Timers, 'after'>
}

export class RetriedStart implements AsyncDisposable {
  readonly #options: RetriedStartOptions
  #started: AsyncDisposable | undefined
  #retry: Timer | undefined

  /** Makes the first attempt. Never throws. */
  constructor(options: RetriedStartOptions) {
    this.#options = options
    this.#start(RETRY_MS_FIRST)
  }

  #start(againMs: number): void {
    const { name, start, log, timers = systemTimers } = this.#options
    try {
      this.#started = start()
    } catch (error) {
      log('error', `failed to start ${name}; retrying`, {
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
