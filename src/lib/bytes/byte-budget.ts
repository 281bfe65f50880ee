/**
 * A byte budget shared by all subsystems that buffer data for clients. Each of them reserves bytes
 * before it allocates memory. Reservations are estimates: they need not be exact, but they must
 * cover everything that a client can make grow. A client gets at most a quarter of the budget, so
 * no client can exhaust it. A small share is kept free for small requests and for clients that are
 * exempt from flow control.
 */
import type { Metrics } from '../telemetry/metrics.ts'

/**
 * The client for which bytes are reserved. `isExempt` means that flow control does not limit it.
 */
export type Holder = { readonly name: string; readonly isExempt: boolean }

/** Requests whose client is not known yet reserve bytes under this name. */
export const unknownHolder: Holder = { name: '', isExempt: false }

/**
 * Maximum share of the budget for one client. A client without other reservations may exceed it.
 */
const HOLDER_SHARE = 1 / 4
/** A small reservation is granted only if at most this share of the budget is then used. */
const SMALL_SHARE = 15 / 16
/**
 * Other reservations are granted only if at most this share of the budget is then used. Exempt
 * clients can use the whole budget.
 */
const LARGE_SHARE = 7 / 8

/**
 * Maximum share of the budget that is charged for one request. It leaves room for smaller requests
 * at the same time, but not for a second request of this size.
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
  /** Requests that need more memory than this number of bytes are rejected. */
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
   * Maximum number of bytes that are charged for one request. Requests that need more are still
   * served if they need at most `neededBytesMax`, but only this maximum is charged for them.
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
    // Without any other reservation, even a request that exceeds the whole budget is granted.
    // Otherwise it could never be granted.
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
   * Reserves bytes even if the budget is exceeded. Use this for memory that is already allocated or
   * that cannot be refused.
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
    help: 'Estimated memory of requests and responses in bytes: the current memory (used), the highest since the start (peak) and the limit (max).',
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
