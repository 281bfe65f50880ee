/**
 * Quantiles of positive values over a time span, with an error of at most one percent and in
 * limited memory. Values are counted in buckets whose bounds increase by a constant factor. The
 * time span is divided into windows, of which the oldest is dropped as a whole.
 */

/** The ratio of two successive bounds. The reported value is the middle of a bucket. */
const FACTOR = 1.02
/**
 * The first bound, 100 ns. Smaller values are counted in the first bucket. Values above the last
 * bound, about half an hour, are counted in the last bucket.
 */
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
   * Returns the quantiles, or NaN if the time span contains no value. Only this function begins new
   * windows, so `observe` need not read the clock.
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
