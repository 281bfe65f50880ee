/**
 * One limit for bytes that many parts hold for clients, each of which says how many before it takes
 * them. What is counted are estimates: they need not be exact, but nothing that a client can make
 * grow may be missing. Nobody can use it up for the others: a client has a quarter of it, and a
 * part is left for what is small and for who is exempt.
 */
import type { Metrics } from '../telemetry/metrics.ts'

/** For whom bytes are held. */
export type Holder = { readonly name: string; readonly isExempt: boolean }

/** Who is not known yet. */
export const unknownHolder: Holder = { name: '', isExempt: false }

/**
 * Of the budget, for one holder. What is larger than this is served while its holder has nothing
 * else.
 */
const HOLDER_SHARE = 1 / 4
/** What is small may take the budget up to this part, … */
const SMALL_SHARE = 15 / 16
/** … all else up to this one. Only who is exempt may use it up. */
const LARGE_SHARE = 7 / 8

/** A request counts as no more than this, so that others have room. Two such do not fit at once. */
const REQUEST_SHARE = 5 / 8

/** `ownBytes`: what the same request holds already. */
export type ReserveOptions = {
  readonly holder: Holder
  readonly isSmall: boolean
  readonly ownBytes?: number
}

export class ByteBudget {
  readonly max: number
  readonly #byHolder = new Map<string, number>()
  #used = 0
  /** The most that was used at once. */
  peak = 0
  /** How often there was no room. */
  refused = 0

  /** Infinity: no limit. */
  constructor(max: number) {
    this.max = max
  }

  /** What one request may hold. One that needs more is served all the same. */
  get requestMax(): number {
    return this.max * REQUEST_SHARE
  }

  get used(): number {
    return this.#used
  }

  /** Whether these bytes would be given. */
  hasRoom(bytes: number, { holder, isSmall, ownBytes = 0 }: ReserveOptions): boolean {
    if (bytes === 0) return true
    const share = holder.isExempt ? 1 : isSmall ? SMALL_SHARE : LARGE_SHARE
    // What is larger than the whole budget is served alone: it could never be otherwise.
    if (this.#used > ownBytes && this.#used + bytes > this.max * share) return false
    const own = this.#byHolder.get(holder.name) ?? 0
    return holder.isExempt || own <= ownBytes || own + bytes <= this.max * HOLDER_SHARE
  }

  /** False: there is no room. */
  take(bytes: number, taking: ReserveOptions): boolean {
    if (this.hasRoom(bytes, taking)) {
      this.takeAnyway(bytes, taking.holder)
      return true
    }
    this.refused++
    return false
  }

  /** For what is held already, or cannot be refused any more. */
  takeAnyway(bytes: number, { name }: Holder): void {
    if (bytes === 0) return
    this.#used += bytes
    if (this.#used > this.peak) this.peak = this.#used
    this.#byHolder.set(name, (this.#byHolder.get(name) ?? 0) + bytes)
  }

  give(bytes: number, { name }: Holder): void {
    if (bytes === 0) return
    this.#used -= bytes
    const left = (this.#byHolder.get(name) ?? 0) - bytes
    if (left <= 0) this.#byHolder.delete(name)
    else this.#byHolder.set(name, left)
  }
}

/**
 * Reports the memory that clients make the server hold, and how often there was no room for more.
 */
export function addBudgetMetrics(metrics: Metrics, budget: ByteBudget): void {
  const bytes = metrics.gauge({
    name: 'keelson_request_memory_bytes',
    help: 'What requests and answers are taken to hold: now, at the most so far, and what they may hold.',
    labels: ['state'],
  })
  const refused = metrics
    .counter({
      name: 'keelson_request_memory_refused_total',
      help: 'How often a request or an answer found no room.',
    })
    .with()
  metrics.onPrint(() => {
    bytes.with('used').value = budget.used
    bytes.with('peak').value = budget.peak
    bytes.with('max').value = budget.max
    refused.value = budget.refused
  })
}
