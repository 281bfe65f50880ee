/**
 * Leases for values that expire, such as events and the records of running servers. A lease costs
 * etcd as much as a write, so writes that are close in time share one. A lease is granted for a
 * little longer than requested, and is shared until this surplus is used up. The constants are
 * those of kube-apiserver, so that events live as long as in a cluster with kube-apiserver.
 */
import { type Clock, systemClock } from '../lib/time/clock.ts'
import type { CallOptions } from './engine.ts'

/** Surplus of a shared lease, as a fraction of the time to live. */
const SURPLUS_SHARE = 0.05
/**
 * Maximum time that a shared lease adds to a requested time to live. --lease-reuse-duration-seconds
 * overrides this maximum.
 */
const SURPLUS_SECONDS_MAX = 60
/**
 * Maximum number of objects on a lease. When a lease expires, etcd deletes all its keys in one
 * transaction, and more keys would delay other writers.
 */
const OBJECTS_PER_LEASE_MAX = 1000
/**
 * Maximum number of different times to live for which a lease is kept. All of them come from the
 * configuration, so there are only two or three. The limit is a safeguard: an error elsewhere
 * cannot make the map grow without bound.
 */
const TTLS_MAX = 64

export type GrantLease = (ttlSeconds: number, options?: CallOptions) => Promise<bigint>

export type LeaseOptions = {
  /** The value of --lease-reuse-duration-seconds. */
  readonly surplusSecondsMax?: number
  /**
   * Called when a lease is requested from the database. `objects` is the number of objects on the
   * replaced lease plus one, as in kube-apiserver's metric.
   */
  readonly onReplaced?: (objects: number) => void
}

type SharedLease = { readonly id: Promise<bigint>; readonly freshUntilMs: number; users: number }

export class Leases {
  readonly #grant: GrantLease
  readonly #clock: Clock
  readonly #surplusSecondsMax: number
  readonly #onReplaced: (objects: number) => void
  readonly #shared = new Map<number, SharedLease>()

  constructor(grant: GrantLease, clock: Clock = systemClock, options: LeaseOptions = {}) {
    const { surplusSecondsMax = SURPLUS_SECONDS_MAX, onReplaced = () => undefined } = options
    this.#grant = grant
    this.#clock = clock
    this.#surplusSecondsMax = surplusSecondsMax
    this.#onReplaced = onReplaced
  }

  /** Returns a lease that lasts at least `ttlSeconds` from now. */
  get(ttlSeconds: number): Promise<bigint> {
    const nowMs = this.#clock.monotonicMs()
    const shared = this.#shared.get(ttlSeconds)
    if (
      shared !== undefined &&
      nowMs < shared.freshUntilMs &&
      shared.users < OBJECTS_PER_LEASE_MAX
    ) {
      shared.users++
      return shared.id
    }
    this.#onReplaced(1 + (shared?.users ?? 0))
    return this.#start(ttlSeconds, nowMs)
  }

  /** Drops a lease that the database does not have or has lost, so that it is not used again. */
  async forget(lease: bigint): Promise<void> {
    for (const [ttlSeconds, shared] of this.#shared) {
      const id = await shared.id.catch(() => undefined)
      if (id === lease && this.#shared.get(ttlSeconds) === shared) this.#shared.delete(ttlSeconds)
    }
  }

  #start(ttlSeconds: number, nowMs: number): Promise<bigint> {
    const surplusSeconds = Math.min(Math.floor(ttlSeconds * SURPLUS_SHARE), this.#surplusSecondsMax)
    // The signal of the caller is not passed on, because other callers may wait for the same lease.
    // The engine has its own timeout.
    const id = this.#grant(ttlSeconds + surplusSeconds)
    if (surplusSeconds === 0) return id
    if (this.#shared.size >= TTLS_MAX) this.#shared.clear()
    // The time is counted from before the request. The lease begins later, so it never expires
    // earlier than assumed.
    const shared = { id, freshUntilMs: nowMs + surplusSeconds * 1000, users: 1 }
    this.#shared.set(ttlSeconds, shared)
    id.catch(() => {
      if (this.#shared.get(ttlSeconds) === shared) this.#shared.delete(ttlSeconds)
    })
    return id
  }
}
