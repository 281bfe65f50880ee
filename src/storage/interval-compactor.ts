/**
 * Compacts the history of a store to which only this process writes. As with etcd, history is
 * retained for one to two intervals. A persistent store saves the revision to which history is
 * compacted next (a compaction note). Thus history is compacted even if every process ends within
 * an interval.
 */
import type { Log } from '../lib/telemetry/log.ts'
import type { Time, Timer } from '../lib/time/timers.ts'
import type { Revision } from './engine.ts'
import { isCode } from './errors.ts'

/**
 * Delay of a compaction that is due at startup. It lets the first requests read the store before
 * the compaction.
 */
const START_MS = 1_000

/**
 * The latest revision at a point in time. History is compacted to this revision one interval later.
 */
export type CompactionNote = { readonly revision: Revision; readonly wallMs: number }

export type IntervalCompactorOptions = {
  readonly engine: {
    latest(): Promise<Revision>
    compact(revision: Revision): Promise<void>
    /**
     * The compaction note that the previous process saved last. Undefined if the store is not
     * persistent.
     */
    readonly compactionNote?: CompactionNote | undefined
    keepCompactionNote?(note: CompactionNote): Promise<void>
  }
  readonly time: Time
  readonly log: Log
  /** Interval between compactions. 0 disables them. */
  readonly intervalMs: number
}

export class IntervalCompactor implements AsyncDisposable {
  readonly #options: IntervalCompactorOptions
  #timer: Timer | undefined
  /** The revision at the last interval, or 0 if it is not known. */
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

  /**
   * Schedules the compactions. If the time of the compaction note is in the future, the clock was
   * set back, so the age of the note is unknown.
   */
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

  /** Schedules a compaction. Uses `every`, because its timers do not keep the process alive. */
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
      log('warn', 'compaction failed; retrying at the next interval', { error: String(error) })
    }
  }

  async #compactTo(revision: Revision): Promise<void> {
    try {
      await this.#options.engine.compact(revision)
    } catch (error) {
      // If the revision is already compacted, nothing has been written since the last compaction.
      if (!isCode(error, 'compacted')) throw error
    }
  }
}
