/**
 * The maximum of a changing number in the current window of one second and the window before it.
 * Therefore, each peak stays visible for at least a second.
 */
const WINDOW_MS = 1000

export class Peak {
  #now = 0
  /** The maxima in the current window and in the previous one. */
  #current = 0
  #previous = 0
  #window = 0

  add(change: 1 | -1, nowMs: number): void {
    this.#roll(nowMs)
    this.#now += change
    if (this.#now > this.#current) this.#current = this.#now
  }

  at(nowMs: number): number {
    this.#roll(nowMs)
    return Math.max(this.#current, this.#previous)
  }

  #roll(nowMs: number): void {
    const window = Math.floor(nowMs / WINDOW_MS)
    if (window === this.#window) return
    this.#previous = window === this.#window + 1 ? this.#current : this.#now
    this.#current = this.#now
    this.#window = window
  }
}
