import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../lib/log.ts'

export type LoopOptions = {
  /** For the log. */
  readonly name: string
  readonly intervalMs: number
  /** The start of the server has just done it, so the first run is after one interval. */
  readonly isDoneAtStart?: boolean
  readonly run: (signal: AbortSignal) => Promise<void>
  readonly log: Log
}

/**
 * Runs something repeatedly while the server is up: at once, unless the start has done it, then after each interval. Failures are
 * logged.
 */
export class Loop implements AsyncDisposable {
  readonly #options: LoopOptions
  readonly #stopping = new AbortController()
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
    const { name, intervalMs, isDoneAtStart = false, run, log } = this.#options
    // Rejects only when the server stops, which the loop checks.
    const pause = (): Promise<void> => sleep(intervalMs, undefined, { signal, ref: false }).catch(() => undefined)
    if (isDoneAtStart) await pause()
    while (!signal.aborted) {
      try {
        await run(signal)
      } catch (error) {
        if (!signal.aborted) log('warn', `${name} failed; it is tried again`, { error: String(error) })
      }
      await pause()
    }
  }
}
