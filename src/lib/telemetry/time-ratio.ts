/**
 * A histogram that shows how long a value was at which fraction of its limit. As in kube-apiserver,
 * times are in nanoseconds, so that the same dashboards can be used. Setting a value takes a
 * comparison and a few additions; buckets are searched only when the limit changes.
 */
import type { Distribution } from '../../lib/telemetry/metrics.ts'

const NS_PER_MS = 1e6
/** The buckets of values below this number are looked up in a table. */
const TABLE_VALUES = 128

export class TimeRatio {
  readonly #bounds: readonly number[]
  readonly #times: Distribution
  /** The number of the bucket for each value below TABLE_VALUES. */
  readonly #buckets = new Uint8Array(TABLE_VALUES)
  #value = 0
  #limit = 1
  #ratio = 0
  #sinceMs: number
  #bucket = 0

  constructor(times: Distribution, { bounds, nowMs }: RatioStart) {
    this.#bounds = bounds
    this.#times = times
    this.#sinceMs = nowMs
    this.#fill()
  }

  set(value: number, nowMs: number): void {
    this.#count(nowMs)
    if (value === this.#value) return
    this.#value = value
    this.#ratio = value / this.#limit
    this.#bucket = this.#buckets[value] ?? this.#find(value)
  }

  setLimit(limit: number, nowMs: number): void {
    this.#count(nowMs)
    if (Math.max(limit, 1) === this.#limit) return
    this.#limit = Math.max(limit, 1)
    this.#ratio = this.#value / this.#limit
    this.#fill()
  }

  #count(nowMs: number): void {
    // Some changes are reported late, because their requests wait for a later tick. Ignore the time
    // of a change that is older than the last one.
    if (nowMs <= this.#sinceMs) return
    const ns = Math.round((nowMs - this.#sinceMs) * NS_PER_MS)
    this.#sinceMs = nowMs
    const { counts } = this.#times
    counts[this.#bucket] = (counts[this.#bucket] ?? 0) + ns
    this.#times.count += ns
    this.#times.sum += this.#ratio * ns
  }

  #fill(): void {
    for (let value = 0; value < TABLE_VALUES; value++) this.#buckets[value] = this.#find(value)
    this.#bucket = this.#find(this.#value)
  }

  #find(value: number): number {
    const ratio = value / this.#limit
    let at = 0
    while (at < this.#bounds.length && ratio > (this.#bounds[at] ?? 0)) at++
    return at
  }
}

export type RatioStart = { readonly bounds: readonly number[]; readonly nowMs: number }
