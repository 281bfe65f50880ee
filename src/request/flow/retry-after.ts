/**
 * Determines when the clients of a priority level should retry after a rejection. The delay doubles
 * while there are many rejections, and decreases by one second at a time when there are few. The
 * algorithm is that of kube-apiserver, so that clients of both servers wait equally long.
 */

const SECONDS_MAX = 32
/**
 * The delay doubles if there are at least this many rejections for each second of the current
 * delay.
 */
const OVERLOAD_PER_SECOND = 3

type Second = { readonly at: number; readonly refused: number }

export class RetryAfter {
  #seconds = 1
  #raisedAt = 0
  #current = 0
  #refused = 0
  /** Numbers of rejections in earlier seconds. */
  #past: Second[] = []

  /** Counts a rejection, and returns the number of seconds to wait. */
  refuse(wallMs: number): number {
    const now = Math.floor(wallMs / 1000)
    if (now === this.#current) this.#refused++
    else {
      this.#past.push({ at: this.#current, refused: this.#refused })
      const keptMax = Math.min(2 * this.#seconds, SECONDS_MAX)
      this.#past = this.#past.filter(({ at }) => this.#current - at <= keptMax)
      this.#current = now
      this.#refused = 1
      this.#adjust(now)
    }
    return this.#seconds
  }

  #adjust(now: number): void {
    const seconds = this.#seconds
    let refused = 0
    for (const one of this.#past)
      if (one.at < now && now - one.at <= seconds) refused += one.refused
    if (now - this.#raisedAt >= seconds && refused >= OVERLOAD_PER_SECOND * seconds) {
      this.#seconds = Math.min(2 * seconds, SECONDS_MAX)
      this.#raisedAt = now
    } else if (refused < seconds && seconds > 1) this.#seconds--
  }
}
