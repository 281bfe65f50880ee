/**
 * How many requests may be under way at once, so that a database that hangs, or clients that all come together, cannot make
 * the server hold requests without end. As kube-apiserver without priority and fairness: two pools, and who finds its pool
 * full is told to come again. Long-running requests are not counted; members of system:masters always get in, and so do
 * probes of health, which kube-apiserver's flow schemas exempt.
 */
import type { RequestInfo } from '../api/context.ts'
import { tooManyInFlight } from '../api/errors.ts'
import type { InFlightPlace } from '../api/request.ts'
import { mastersGroup, type User } from '../api/user.ts'
import { assert } from '../lib/assert.ts'

/** 0: no limit. */
export type InFlightLimits = { readonly readOnlyMax: number; readonly mutatingMax: number }

const readOnlyVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch'])
const longRunningVerbs: ReadonlySet<string> = new Set(['watch', 'proxy'])
const longRunningSubresources: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward'])
const probes: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz'])

export class InFlight {
  readonly #readOnly: Pool
  readonly #mutating: Pool

  constructor({ readOnlyMax, mutatingMax }: InFlightLimits) {
    this.#readOnly = new Pool(readOnlyMax || Infinity)
    this.#mutating = new Pool(mutatingMax || Infinity)
  }

  /** Fails when the pool is full, or long answers of this user keep their share of it. Undefined: it is not counted. */
  enter(user: User, info: RequestInfo): RequestPlace | undefined {
    if (isExempt(user, info)) return undefined
    const pool = readOnlyVerbs.has(info.verb) ? this.#readOnly : this.#mutating
    pool.enter(user.name)
    return pool
  }
}

/** Of a request that is being answered. */
export interface RequestPlace extends InFlightPlace {
  /** The place of its answer, which is long and still to be taken by its client; this one is left with it. */
  readonly keep: (user: string) => InFlightPlace
}

/** What long answers of one user may keep of a pool: who takes them slowly must not keep out all others. */
const KEPT_SHARE = 1 / 4

/** One place in it is as good as another, so that it stands for all of them: none is made for a request. */
class Pool implements RequestPlace {
  readonly #max: number
  readonly #keptMax: number
  /** Long answers of each user who has any. */
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
    assert(this.#open >= 0, 'a place is left once')
  }

  keep(user: string): InFlightPlace {
    const kept = this.#keptBy(user) + 1
    this.#kept.set(user, kept)
    // Those that were let in together may be more than the share: they count for their user alone.
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

/** Others decide how long these take: they have no request timeout either. */
export const isLongRunning = (info: RequestInfo): boolean =>
  longRunningVerbs.has(info.verb) || (info.kind === 'resource' && longRunningSubresources.has(info.subresource))

function isExempt({ groups }: User, info: RequestInfo): boolean {
  if (groups.includes(mastersGroup) || isLongRunning(info)) return true
  return info.kind === 'path' && probes.has(info.path)
}
