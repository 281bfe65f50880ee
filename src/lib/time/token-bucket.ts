/** A token bucket: it allows a burst, and then a rate per second. */
export class TokenBucket {
  readonly #burst: number
  readonly #perMs: number
  #level: number
  #atMs: number

  constructor(burst: number, perSecond: number, nowMs: number) {
    this.#burst = burst
    this.#perMs = perSecond / 1000
    this.#level = burst
    this.#atMs = nowMs
  }

  /** Takes `count` tokens. Returns false if there are not enough tokens. */
  take(nowMs: number, count = 1): boolean {
    this.#level = Math.min(this.#burst, this.#level + (nowMs - this.#atMs) * this.#perMs)
    this.#atMs = nowMs
    if (this.#level < count) return false
    this.#level -= count
    return true
  }
}
