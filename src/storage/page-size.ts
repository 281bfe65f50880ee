/**
 * Chooses the row limit for pages of about a given size in bytes. The database accepts only a limit
 * of rows, so the limit is derived from the size of the previous rows.
 */

/**
 * Target size of a page. It is large enough that the cost per request is negligible, and small
 * enough that decoding a page does not delay other requests.
 */
const PAGE_BYTES = 1024 * 1024
/**
 * Row limit of the first page. Even with rows of the maximum size that etcd accepts by default (1.5
 * MB), the page takes at most 24 MB.
 */
const ROWS_FIRST = 16
/**
 * Maximum factor by which a limit grows from one page to the next, because small rows may be
 * followed by large ones.
 */
const GROWTH_MAX = 8
/** Maximum row limit, as in kube-apiserver. */
const ROWS_MAX = 10_000

export class PageSize {
  readonly #targetBytes: number
  #rows: number

  /**
   * `rowBytes` is the expected size of a row. It can only reduce the limit of the first page,
   * because rows may have become larger.
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
   * Reduces the limit after a response that exceeded the size limit. Returns false if the limit is
   * already 1.
   */
  shrink(): boolean {
    if (this.#rows === 1) return false
    this.#rows = Math.max(1, Math.floor(this.#rows / GROWTH_MAX))
    return true
  }
}
