/** Compacts the history of a store that only this process writes: it is kept for one to two intervals, as with etcd. */
import type { Log } from '../lib/log.ts'
import type { Time, Timer } from '../lib/timers.ts'
import type { Revision } from './engine.ts'
import { isCode } from './errors.ts'

export type IntervalCompactorOptions = {
  readonly engine: { latest(): Promise<Revision>; compact(revision: Revision): Promise<void> }
  readonly time: Time
  readonly log: Log
  /** 0: never compact. */
  readonly intervalMs: number
}

export class IntervalCompactor implements AsyncDisposable {
  readonly #options: IntervalCompactorOptions
  readonly #timer: Timer | undefined
  /** The revision at the last interval; 0 before the first. */
  #noted: Revision = 0
  #running: Promise<void> = Promise.resolve()

  constructor(options: IntervalCompactorOptions) {
    this.#options = options
    const { intervalMs, time } = options
    if (intervalMs > 0)
      this.#timer = time.every(intervalMs, () => {
        this.#running = this.#running.then(() => this.#compact())
      })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.close()
    await this.#running
  }

  async #compact(): Promise<void> {
    const { engine, log } = this.#options
    try {
      const latest = await engine.latest()
      const noted = this.#noted
      this.#noted = latest
      if (noted > 0) await engine.compact(noted)
    } catch (error) {
      // Nothing was written since the last time.
      if (isCode(error, 'compacted')) return
      log('warn', 'compaction failed, next attempt at the next interval', { error: String(error) })
    }
  }
}
