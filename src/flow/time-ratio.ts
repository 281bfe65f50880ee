/**
 * How long a value stood where, as a share of a limit: a histogram that counts nanoseconds, as kube-apiserver's do, so that dashboards made
 * for it read ours alike. A change costs a comparison and some additions; the bucket is looked for only when the value has changed.
 */
import type { Distribution } from '../lib/metrics.ts'

const NS_PER_MS = 1e6

export class TimeRatio {
  readonly #bounds: readonly number[]
  readonly #times: Distribution
  #value = 0
  #limit = 1
  #sinceMs: number
  #bucket: number

  constructor(times: Distribution, { bounds, nowMs }: RatioStart) {
    this.#bounds = bounds
    this.#times = times
    this.#sinceMs = nowMs
    this.#bucket = this.#find()
  }

  set(value: number, nowMs: number): void {
    this.#count(nowMs)
    if (value === this.#value) return
    this.#value = value
    this.#bucket = this.#find()
  }

  setLimit(limit: number, nowMs: number): void {
    this.#count(nowMs)
    this.#limit = Math.max(limit, 1)
    this.#bucket = this.#find()
  }

  #count(nowMs: number): void {
    const ns = Math.round((nowMs - this.#sinceMs) * NS_PER_MS)
    this.#sinceMs = nowMs
    if (ns <= 0) return
    const { counts } = this.#times
    counts[this.#bucket] = (counts[this.#bucket] ?? 0) + ns
    this.#times.count += ns
    this.#times.sum += (this.#value / this.#limit) * ns
  }

  #find(): number {
    const ratio = this.#value / this.#limit
    let at = 0
    while (at < this.#bounds.length && ratio > (this.#bounds[at] ?? 0)) at++
    return at
  }
}

export type RatioStart = { readonly bounds: readonly number[]; readonly nowMs: number }
