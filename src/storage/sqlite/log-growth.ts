/**
 * Monitors the size of SQLite's write-ahead log. Normally, the log is checkpointed every 8 MB.
 * While another program reads the file, this is not possible, and the log grows with every write
 * until the disk is full.
 */

/**
 * Size above which the log is considered long. It is twice the size that the log reaches with the
 * largest commits.
 */
export const LONG_LOG_BYTES = 64 * 1024 * 1024
const LOOK_MS = 1_000

export class LogGrowth {
  readonly #readBytes: () => number
  /** The last reported size, or 0 if the log was not long. */
  #reportedBytes = 0
  #lookedMs = -Infinity

  constructor(readBytes: () => number) {
    this.#readBytes = readBytes
  }

  /**
   * Returns the size when the log becomes long, and again each time that the size has doubled.
   * Returns 0 when the log is no longer long. Returns undefined if there is nothing to report.
   */
  check(nowMs: number): number | undefined {
    if (nowMs - this.#lookedMs < LOOK_MS) return undefined
    this.#lookedMs = nowMs
    const bytes = this.#readBytes()
    const isReported =
      bytes <= LONG_LOG_BYTES ? this.#reportedBytes === 0 : bytes < 2 * this.#reportedBytes
    if (isReported) return undefined
    this.#reportedBytes = bytes <= LONG_LOG_BYTES ? 0 : bytes
    return this.#reportedBytes
  }
}
