import type { Key, Revision } from './engine.ts'

/** Lists that are being paged through. */
const COUNTS_MAX = 64

/**
 * How many keys are left behind the page that was read last, by revision and end of the list: the
 * pages of one list are counted once.
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
