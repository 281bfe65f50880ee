/**
 * Watches the size of SQLite's write-ahead log. The log is written back every 8 MB. While another
 * program reads the file, it cannot be written back and grows with every write, until the disk is
 * full.
 */

/** Size above which the log counts as long: twice what the largest commits leave in it. */
export const LONG_LOG_BYTES = 64 * 1024 * 1024
const LOOK_MS = 1_000

export class LogGrowth {
  readonly #readBytes: () => number
  /** The size that was last reported; 0 if the log was short. */
  #reportedBytes = 0
  #lookedMs = -Infinity

  constructor(readBytes: () => number) {
    this.#readBytes = readBytes
  }

  /**
   * Returns the size when the log has become long, and each time that it has doubled. Returns 0
   * when it is short again, and undefined if there is nothing to report.
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
