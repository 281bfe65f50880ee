/**
 * Quantiles of positive values over a span of time, within one percent, in bounded memory: counts
 * in buckets whose bounds grow by a constant factor. The span is divided into windows, of which the
 * oldest is forgotten as a whole.
 */

/** From one bound to the next; a value is told by the middle of its bucket. */
const FACTOR = 1.02
/** Below the first bound, 100 ns, all values are the same; above the last, about an hour, too. */
const LOWEST = 1e-7
const BUCKETS = 1200
const WINDOWS = 5

const perFactor = 1 / Math.log(FACTOR)

export class Quantiles {
  readonly #windows: Uint32Array[] = [new Uint32Array(BUCKETS)]
  readonly #windowMs: number
  readonly #monotonicMs: () => number
  #current = this.#windows[0]
  #begunMs: number
  sum = 0
  count = 0

  constructor(spanMs: number, monotonicMs: () => number) {
    this.#windowMs = spanMs / WINDOWS
    this.#monotonicMs = monotonicMs
    this.#begunMs = monotonicMs()
  }

  observe(value: number): void {
    this.sum += value
    this.count++
    const at =
      value <= LOWEST ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(value / LOWEST) * perFactor))
    const window = this.#current
    if (window !== undefined) window[at] = (window[at] ?? 0) + 1
  }

  /**
   * NaN if there is no value in the span. Windows begin when somebody asks, so that `observe` need
   * not read the clock.
   */
  read(quantiles: readonly number[]): readonly number[] {
    this.#turn()
    const counts = Array.from({ length: BUCKETS }, (_, at) =>
      this.#windows.reduce((sum, window) => sum + (window[at] ?? 0), 0),
    )
    const total = counts.reduce((sum, count) => sum + count, 0)
    return quantiles.map((quantile) =>
      total === 0 ? Number.NaN : valueAt(counts, Math.ceil(quantile * total)),
    )
  }

  #turn(): void {
    const nowMs = this.#monotonicMs()
    while (nowMs - this.#begunMs >= this.#windowMs) {
      this.#current = new Uint32Array(BUCKETS)
      this.#windows.push(this.#current)
      if (this.#windows.length > WINDOWS) this.#windows.shift()
      this.#begunMs = Math.max(this.#begunMs + this.#windowMs, nowMs - this.#windowMs * WINDOWS)
    }
  }
}

function valueAt(counts: readonly number[], rank: number): number {
  let seen = 0
  const at = counts.findIndex((count) => {
    seen += count
    return seen >= rank
  })
  return at === 0 ? LOWEST : LOWEST * FACTOR ** (at - 1 / 2)
}
