/**
 * Compacts the history of a store that only this process writes: it is kept for one to two
 * intervals, as with etcd. A store that outlives the process keeps what was noted for the next
 * compaction: processes that all end within an interval compact, too.
 */
import type { Log } from '../lib/telemetry/log.ts'
import type { Time, Timer } from '../lib/time/timers.ts'
import type { Revision } from './engine.ts'
import { isCode } from './errors.ts'

/**
 * How long after a start a compaction that is due begins: before that, the store is read for the
 * first requests.
 */
const START_MS = 1_000

/** The latest revision at a time of the wall clock: one interval later it is compacted to. */
export type CompactionNote = { readonly revision: Revision; readonly wallMs: number }

export type IntervalCompactorOptions = {
  readonly engine: {
    latest(): Promise<Revision>
    compact(revision: Revision): Promise<void>
    /**
     * What the process before this one noted last; absent in a store that ends with its process.
     */
    readonly compactionNote?: CompactionNote | undefined
    keepCompactionNote?(note: CompactionNote): Promise<void>
  }
  readonly time: Time
  readonly log: Log
  /** 0: never compact. */
  readonly intervalMs: number
}

export class IntervalCompactor implements AsyncDisposable {
  readonly #options: IntervalCompactorOptions
  #timer: Timer | undefined
  /** The revision at the last interval; 0 if it could not be read. */
  #recorded: Revision = 0
  #running: Promise<void> = Promise.resolve()

  constructor(options: IntervalCompactorOptions) {
    this.#options = options
    if (options.intervalMs > 0) this.#start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.close()
    await this.#running
  }

  /** A note of the future shows that the clock was set back: how old it is nobody knows. */
  #start(): void {
    const { engine, time, intervalMs } = this.#options
    const note = engine.compactionNote
    const ageMs = note === undefined ? -1 : time.wallMs() - note.wallMs
    if (note === undefined || ageMs < 0) {
      this.#compactAfter(intervalMs)
      this.#running = this.#compact()
    } else {
      this.#recorded = note.revision
      this.#compactAfter(Math.max(START_MS, intervalMs - ageMs))
    }
  }

  /** By `every`, which does not keep the process alive. */
  #compactAfter(ms: number): void {
    const { time, intervalMs } = this.#options
    this.#timer = time.every(ms, () => {
      this.#timer?.close()
      this.#compactAfter(intervalMs)
      this.#running = this.#running.then(() => this.#compact())
    })
  }

  async #compact(): Promise<void> {
    const { engine, time, log } = this.#options
    try {
      const note = { revision: await engine.latest(), wallMs: time.wallMs() }
      const noted = this.#recorded
      this.#recorded = note.revision
      if (noted > 0) await this.#compactTo(noted)
      await engine.keepCompactionNote?.(note)
    } catch (error) {
      log('warn', 'compaction failed, next attempt at the next interval', { error: String(error) })
    }
  }

  async #compactTo(revision: Revision): Promise<void> {
    try {
      await this.#options.engine.compact(revision)
    } catch (error) {
      // Nothing was written since the last time.
      if (!isCode(error, 'compacted')) throw error
    }
  }
}
