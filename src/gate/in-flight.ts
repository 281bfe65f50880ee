/**
 * How many requests may be under way at once, so that a database that hangs, or clients that all come together, cannot make
 * the server hold requests without end. As kube-apiserver without priority and fairness: two pools, and who finds its pool
 * full is told to come again. Long-running requests are not counted; members of system:masters always get in, and so do
 * probes of health, which kube-apiserver's flow schemas exempt.
 */
import type { RequestInfo } from '../api/context.ts'
import { tooManyInFlight } from '../api/errors.ts'
import { mastersGroup, type User } from '../api/user.ts'

/** 0: no limit. */
export type InFlightLimits = { readonly readOnlyMax: number; readonly mutatingMax: number }

/** `exempt`: it is not counted. */
export type InFlightPool = 'readOnly' | 'mutating' | 'exempt'

const readOnlyVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch'])
const longRunningVerbs: ReadonlySet<string> = new Set(['watch', 'proxy'])
const longRunningSubresources: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward'])
const probes: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz'])

export class InFlight {
  readonly #max: { readonly readOnly: number; readonly mutating: number }
  readonly #open = { readOnly: 0, mutating: 0 }

  constructor({ readOnlyMax, mutatingMax }: InFlightLimits) {
    this.#max = { readOnly: readOnlyMax || Infinity, mutating: mutatingMax || Infinity }
  }

  /** Fails when the pool is full. What it returns is to be given to `leave`, once. */
  enter(user: User, info: RequestInfo): InFlightPool {
    const pool = poolOf(user, info)
    if (pool === 'exempt') return pool
    if (this.#open[pool] >= this.#max[pool]) throw tooManyInFlight()
    this.#open[pool]++
    return pool
  }

  leave(pool: InFlightPool): void {
    if (pool !== 'exempt') this.#open[pool]--
  }
}

/** Others decide how long these take: they have no request timeout either. */
export const isLongRunning = (info: RequestInfo): boolean =>
  longRunningVerbs.has(info.verb) || (info.kind === 'resource' && longRunningSubresources.has(info.subresource))

function poolOf({ groups }: User, info: RequestInfo): InFlightPool {
  if (groups.includes(mastersGroup) || isLongRunning(info)) return 'exempt'
  if (info.kind === 'path' && probes.has(info.path)) return 'exempt'
  return readOnlyVerbs.has(info.verb) ? 'readOnly' : 'mutating'
}
