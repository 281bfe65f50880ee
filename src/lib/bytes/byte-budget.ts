/**
 * A byte budget shared by all subsystems that buffer data for clients; each reserves bytes before
 * it allocates them. Reservations are estimates: they need not be exact, but they must cover
 * everything that a client can make grow. No client can exhaust the budget: each gets at most a
 * quarter, and a reserve is kept for small requests and for exempt clients.
 */
import type { Metrics } from '../telemetry/metrics.ts'

/** The client for which bytes are held. */
export type Holder = { readonly name: string; readonly isExempt: boolean }

/** The holder of requests whose client is not known yet. */
export const unknownHolder: Holder = { name: '', isExempt: false }

/**
 * Share of the budget that one holder may have. A larger request is granted only while its holder
 * has nothing else.
 */
const HOLDER_SHARE = 1 / 4
/** Share of the budget up to which small requests may fill it. */
const SMALL_SHARE = 15 / 16
/**
 * Share of the budget up to which other requests may fill it. Only exempt clients may use all of
 * it.
 */
const LARGE_SHARE = 7 / 8

/**
 * Share of the budget that one request counts for at most, so that others have room. Two such
 * requests do not fit at once.
 */
const REQUEST_SHARE = 5 / 8

/** Options of a reservation. `ownBytes` is what the same request already holds. */
export type ReserveOptions = {
  readonly holder: Holder
  readonly isSmall: boolean
  readonly ownBytes?: number
}

export class ByteBudget {
  readonly max: number
  readonly #byHolder = new Map<string, number>()
  #used = 0
  /** The largest number of bytes that were in use at once. */
  peak = 0
  /** How many reservations were refused. */
  refused = 0

  /** Creates a budget of `max` bytes; Infinity means no limit. */
  constructor(max: number) {
    this.max = max
  }

  /**
   * Maximum number of bytes that one request counts for. A request that needs more is still served.
   */
  get requestMax(): number {
    return this.max * REQUEST_SHARE
  }

  get used(): number {
    return this.#used
  }

  /** Whether a reservation of this size would be granted. */
  hasRoom(bytes: number, { holder, isSmall, ownBytes = 0 }: ReserveOptions): boolean {
    if (bytes === 0) return true
    const share = holder.isExempt ? 1 : isSmall ? SMALL_SHARE : LARGE_SHARE
    // A reservation larger than the whole budget is granted if nothing else is held: it could never
    // be granted otherwise.
    if (this.#used > ownBytes && this.#used + bytes > this.max * share) return false
    const own = this.#byHolder.get(holder.name) ?? 0
    return holder.isExempt || own <= ownBytes || own + bytes <= this.max * HOLDER_SHARE
  }

  /** Reserves bytes. Returns false if there is no room. */
  take(bytes: number, taking: ReserveOptions): boolean {
    if (this.hasRoom(bytes, taking)) {
      this.takeAnyway(bytes, taking.holder)
      return true
    }
    this.refused++
    return false
  }

  /** Reserves bytes without a check, for data that is already held or can no longer be refused. */
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
    help: 'Estimated bytes that requests and responses hold: now (used), at most so far (peak), and the limit (max).',
    labels: ['state'],
  })
  const refused = metrics
    .counter({
      name: 'keelson_request_memory_refused_total',
      help: 'Number of times that the memory budget had no room for a request or response.',
    })
    .with()
  metrics.onPrint(() => {
    bytes.with('used').value = budget.used
    bytes.with('peak').value = budget.peak
    bytes.with('max').value = budget.max
    refused.value = budget.refused
  })
}
