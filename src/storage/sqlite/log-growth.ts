/**
 * Watches over the length of SQLite's log (the write-ahead log beside the file). It is written back
 * every 8 MB; while another program reads the file it cannot be, and grows by all that is written,
 * until the disk is full.
 */

/** What the largest commits leave in it is half of this. */
export const LONG_LOG_BYTES = 64 * 1024 * 1024
const LOOK_MS = 1_000

export class LogGrowth {
  readonly #readBytes: () => number
  /** 0: it is short. */
  #reportedBytes = 0
  #lookedMs = -Infinity

  constructor(readBytes: () => number) {
    this.#readBytes = readBytes
  }

  /**
   * Its length when it has become long, and whenever that has doubled; 0 when it is short again;
   * undefined: nothing new.
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
