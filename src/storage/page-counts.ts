import type { Key, Revision } from './engine.ts'

/** Maximum number of lists whose counts are cached. */
const COUNTS_MAX = 64

/**
 * Caches the number of keys after a page, by the revision and the end of the list. The keys of a
 * list are thus counted only once, and not again for each page.
 */
export class PageCounts {
  readonly #left = new Map<string, { readonly next: Key; readonly count: number }>()

  find(at: Revision, from: Key, to: Key): number | undefined {
    const known = this.#left.get(`${at} ${to}`)
    return known?.next === from ? known.count : undefined
  }

  keep(at: Revision, next: Key, to: Key, count: number): void {
    if (this.#left.size >= COUNTS_MAX) this.#left.clear()
    this.#left.set(`${at} ${to}`, { next, count })
  }
}
