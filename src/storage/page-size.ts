/**
 * Chooses the limit of rows for a page of about a given number of bytes. The database accepts only
 * a limit of rows, so the limit follows the size of the rows seen so far.
 */

/**
 * Target size of a page. It is large enough to make the cost per request negligible, and small
 * enough that decoding a page does not hold up other requests.
 */
const PAGE_BYTES = 1024 * 1024
/**
 * Row limit of the first page. With rows of the largest size that etcd accepts by default (1.5 MB),
 * the page stays within 24 MB.
 */
const ROWS_FIRST = 16
/**
 * Largest factor by which a limit grows at once, because small rows may be followed by large ones.
 */
const GROWTH_MAX = 8
/** Maximum row limit, as in kube-apiserver. */
const ROWS_MAX = 10_000

export class PageSize {
  readonly #targetBytes: number
  #rows: number

  /**
   * `rowBytes` is the size of a row, if known. It can only make the first page smaller, because
   * rows may be larger by now.
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

  /**
   * Shrinks the limit after a response that exceeded the byte limit. Returns false if the limit is
   * already 1.
   */
  shrink(): boolean {
    if (this.#rows === 1) return false
    this.#rows = Math.max(1, Math.floor(this.#rows / GROWTH_MAX))
    return true
  }
}
