/**
 * Limits the number of requests in flight. Otherwise, an etcd that does not respond or a burst of
 * clients could cause an unbounded number of them.
 *
 * The limit works like that of kube-apiserver without API Priority and Fairness. There are two
 * pools, and a request that finds its pool full is rejected with a 429. Long-running requests are
 * not counted. Members of system:masters are exempt. Health checks are also exempt, as in
 * kube-apiserver's flow schemas.
 */
import type { RequestInfo } from '../../api/context.ts'
import { tooManyInFlight } from '../../api/errors.ts'
import type { InFlightSlot } from '../../api/request.ts'
import { mastersGroup, type User } from '../../api/user.ts'
import { readVerbs } from '../../api/verbs.ts'
import { assert } from '../../lib/errors.ts'

/** Maximum numbers of reads and of writes in flight. 0 means no limit. */
export type InFlightLimits = { readonly readOnlyMax: number; readonly mutatingMax: number }

const longRunningVerbs: ReadonlySet<string> = new Set(['watch', 'proxy'])
const longRunningSubresources: ReadonlySet<string> = new Set([
  'attach',
  'exec',
  'proxy',
  'log',
  'portforward',
])
const probes: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz'])

export class InFlight {
  readonly #readOnly: Pool
  readonly #mutating: Pool

  constructor({ readOnlyMax, mutatingMax }: InFlightLimits) {
    this.#readOnly = new Pool(readOnlyMax || Infinity)
    this.#mutating = new Pool(mutatingMax || Infinity)
  }

  /**
   * Acquires a slot among the requests in flight. Fails if the pool is full, or if long responses
   * that this user has not read yet occupy their maximum share of the pool. Returns undefined if
   * the request is not counted.
   */
  enter(user: User, info: RequestInfo): RequestSlot | undefined {
    if (isExempt(user, info)) return undefined
    const pool = readVerbs.has(info.verb) ? this.#readOnly : this.#mutating
    pool.enter(user.name)
    return pool
  }
}

/** Slot of a request whose handler is running. */
export interface RequestSlot extends InFlightSlot {
  /**
   * Releases the slot. `nowMs` is the current time on the monotonic clock, if the caller has just
   * read the clock.
   */
  readonly leave: (nowMs?: number) => void
  /**
   * Converts this slot to the slot of a long response that the client has not read yet. Releasing
   * the returned slot releases this one.
   */
  readonly keep: (user: string) => InFlightSlot
}

/**
 * Maximum share of a pool that unread long responses of one user can occupy, so that a slow reader
 * cannot block all other users.
 */
const KEPT_SHARE = 1 / 4

/**
 * A pool of slots. The slots of a pool are interchangeable, so the pool itself is used as the slot.
 * Thus no object is allocated per request.
 */
class Pool implements RequestSlot {
  readonly #max: number
  readonly #keptMax: number
  /** Number of unread long responses, by user. */
  readonly #kept = new Map<string, number>()
  #open = 0

  constructor(max: number) {
    this.#max = max
    this.#keptMax = Math.max(1, Math.floor(max * KEPT_SHARE))
  }

  enter(user: string): void {
    if (this.#open >= this.#max || this.#keptBy(user) >= this.#keptMax) throw tooManyInFlight()
    this.#open++
  }

  leave(): void {
    this.#open--
    assert(this.#open >= 0, 'a slot is released only once')
  }

  keep(user: string): InFlightSlot {
    const kept = this.#keptBy(user) + 1
    this.#kept.set(user, kept)
    // If a user has several requests in flight when the share is reached, their responses can
    // exceed the share. The excess counts against the user, but not against the pool.
    const isCounted = kept <= this.#keptMax
    if (!isCounted) this.leave()
    return {
      leave: () => {
        const left = this.#keptBy(user) - 1
        if (left === 0) this.#kept.delete(user)
        else this.#kept.set(user, left)
        if (isCounted) this.leave()
      },
    }
  }

  #keptBy(user: string): number {
    return this.#kept.get(user) ?? 0
  }
}

/**
 * Whether the client or another server determines how long a request takes. Such requests have no
 * timeout.
 */
export const isLongRunning = (info: RequestInfo): boolean =>
  longRunningVerbs.has(info.verb) ||
  (info.kind === 'resource'
    ? longRunningSubresources.has(info.subresource)
    : info.path.startsWith('/debug/pprof/'))

function isExempt({ groups }: User, info: RequestInfo): boolean {
  if (groups.includes(mastersGroup) || isLongRunning(info)) return true
  return info.kind === 'path' && probes.has(info.path)
}
