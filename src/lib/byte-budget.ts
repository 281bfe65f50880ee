/**
 * One limit for bytes that many parts hold for others, each of which says how many before it takes them. What is counted are estimates: they need not be exact, but
 * nothing that a client can make grow may be missing.
 */
export class ByteBudget {
  readonly max: number
  #used = 0
  /** The most that was used at once. */
  peak = 0
  /** How often there was no room. */
  refused = 0

  /** Infinity: no limit. */
  constructor(max: number) {
    this.max = max
  }

  get used(): number {
    return this.#used
  }

  /** False: there is no room. What is larger than the whole budget gets it when nothing else is held: it could never be served otherwise. */
  take(bytes: number): boolean {
    if (this.#used > 0 && this.#used + bytes > this.max) {
      this.refused++
      return false
    }
    this.#used += bytes
    if (this.#used > this.peak) this.peak = this.#used
    return true
  }

  give(bytes: number): void {
    this.#used -= bytes
  }
}
