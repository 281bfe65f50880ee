/**
 * A byte budget shared by all subsystems that buffer data for clients. Each of them reserves bytes
 * before it allocates memory. Reservations are estimates: they need not be exact, but they must
 * cover everything that a client can make grow. No client can exhaust the budget: each client gets
 * at most a quarter, and a part is reserved for small requests and for exempt clients.
 */
import type { Metrics } from '../telemetry/metrics.ts'

/** The client for which bytes are reserved. */
export type Holder = { readonly name: string; readonly isExempt: boolean }

/** The holder of reservations for requests whose client is not known yet. */
export const unknownHolder: Holder = { name: '', isExempt: false }

/**
 * Maximum share of the budget for one client. A larger request is granted only if the client has no
 * other reservation.
 */
const HOLDER_SHARE = 1 / 4
/** Small requests are granted only while less than this share of the budget is used. */
const SMALL_SHARE = 15 / 16
/**
 * Other requests are granted only while less than this share of the budget is used. Only exempt
 * clients can use the whole budget.
 */
const LARGE_SHARE = 7 / 8

/**
 * Maximum share of the budget that is charged for one request. The rest of the budget lets smaller
 * requests run at the same time, but not a second request of this size.
 */
const REQUEST_SHARE = 5 / 8

/**
 * Options of a reservation. `ownBytes` is the number of bytes that the same request has already
 * reserved.
 */
export type ReserveOptions = {
  readonly holder: Holder
  readonly isSmall: boolean
  readonly ownBytes?: number
}

export class ByteBudget {
  readonly max: number
  /** Maximum number of bytes that one request can need. A request that needs more is not served. */
  readonly neededBytesMax: number
  readonly #byHolder = new Map<string, number>()
  #used = 0
  /** The largest number of bytes that were reserved at the same time. */
  peak = 0
  /** Number of reservations that were refused. */
  refused = 0

  /** Creates a budget of `max` bytes. Infinity means no limit. */
  constructor(max: number, neededBytesMax = Infinity) {
    this.max = max
    this.neededBytesMax = neededBytesMax
  }

  /**
   * Maximum number of bytes that are charged for one request. A request that needs more is still
   * served, up to `neededBytesMax`.
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
    // A reservation that exceeds the whole budget is granted if there is no other reservation,
    // because it could never be granted otherwise.
    if (this.#used > ownBytes && this.#used + bytes > this.max * share) return false
    const own = this.#byHolder.get(holder.name) ?? 0
    return holder.isExempt || own <= ownBytes || own + bytes <= this.max * HOLDER_SHARE
  }

  /** Reserves bytes. Returns false if the reservation is refused. */
  take(bytes: number, taking: ReserveOptions): boolean {
    if (this.hasRoom(bytes, taking)) {
      this.takeAnyway(bytes, taking.holder)
      return true
    }
    this.refused++
    return false
  }

  /**
   * Reserves bytes without a check, for memory that is already allocated or can no longer be
   * refused.
   */
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

/** Reports the reserved memory, and the number of refused reservations, as metrics. */
export function addBudgetMetrics(metrics: Metrics, budget: ByteBudget): void {
  const bytes = metrics.gauge({
    name: 'keelson_request_memory_bytes',
    help: 'Estimated memory that requests and responses hold, in bytes: current (used), highest so far (peak) and maximum (max).',
    labels: ['state'],
  })
  const refused = metrics
    .counter({
      name: 'keelson_request_memory_refused_total',
      help: 'Number of times that the memory budget was too small for a request or response.',
    })
    .with()
  metrics.onPrint(() => {
    bytes.with('used').value = budget.used
    bytes.with('peak').value = budget.peak
    bytes.with('max').value = budget.max
    refused.value = budget.refused
  })
}
