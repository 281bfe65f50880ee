/**
 * Chooses the limit of rows for a page of about a given number of bytes. The database takes a limit
 * of rows only, so the limit follows the size of the rows seen so far.
 */

/**
 * Large enough that the cost per request vanishes, small enough that decoding a page does not hold
 * up other requests.
 */
const PAGE_BYTES = 1024 * 1024
/**
 * With rows of the largest size that etcd takes by default (1.5 MB), a first page stays within 24
 * MB.
 */
const ROWS_FIRST = 16
/** Small rows may be followed by large ones: a limit grows in steps. */
const GROWTH_MAX = 8
/** Upstream's largest page. */
const ROWS_MAX = 10_000

export class PageSize {
  readonly #targetBytes: number
  #rows: number

  /**
   * `rowBytes`: of a row, as far as it is known. Only a smaller first page follows from it: rows
   * may be larger by now.
   */
  constructor(targetBytes: number = PAGE_BYTES, rowBytes = 0) {
    this.#targetBytes = targetBytes
    this.#rows = Math.max(1, Math.min(ROWS_FIRST, Math.floor(targetBytes / Math.max(rowBytes, 1))))
  }

  get rows(): number {
    return this.#rows
  }

  /** Records the size of the page that was read with the last limit. */
  record(rows: number, bytes: number): void {
    if (rows === 0) return
    const fitting = Math.floor((this.#targetBytes * rows) / Math.max(bytes, 1))
    this.#rows = Math.max(1, Math.min(fitting, this.#rows * GROWTH_MAX, ROWS_MAX))
  }

  /** The answer exceeded the limit of bytes. False: the limit of rows is 1 already. */
  shrink(): boolean {
    if (this.#rows === 1) return false
    this.#rows = Math.max(1, Math.floor(this.#rows / GROWTH_MAX))
    return true
  }
}
