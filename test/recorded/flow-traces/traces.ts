/**
 * The requests that both servers receive, with their users and times. The requests depend only on a
 * seed, and not on responses: if a client waited for a response before it sends the next request, a
 * slower server would receive a different trace.
 */
import type { Fields } from '../../../src/api/object.ts'
import { Random } from '../../chaos/simulation/random.ts'

export type TraceRequest = {
  readonly atMs: number
  readonly user: string
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly body?: Fields
  /**
   * Whether the request is a watch. A watch ends after the first bytes of the response.
   */
  readonly isWatch?: boolean
}

export type Trace = { readonly name: string; readonly arrivals: readonly TraceRequest[] }

/** Groups of each user, by user name. The token of a user is the user name. */
export const users: ReadonlyMap<string, readonly string[]> = new Map([
  ['flood', []],
  ['other', []],
  ...Array.from({ length: 40 }, (_, at): [string, string[]] => [`user-${at}`, []]),
  ...Array.from({ length: 10 }, (_, at): [string, string[]] => [
    `system:serviceaccount:default:account-${at}`,
    ['system:serviceaccounts', 'system:serviceaccounts:default'],
  ]),
  ...Array.from({ length: 5 }, (_, at): [string, string[]] => [
    `system:node:node-${at}`,
    ['system:nodes'],
  ]),
  ['system:kube-scheduler', []],
  ['system:kube-controller-manager', []],
  [
    'system:serviceaccount:kube-system:elected',
    ['system:serviceaccounts', 'system:serviceaccounts:kube-system'],
  ],
])

/**
 * Duration of a trace in ms. It is a little longer than the period after which seats are
 * redistributed among priority levels.
 */
export const TRACE_MS = 12_000

const maps = '/api/v1/namespaces/default/configmaps'
const get = { method: 'GET', path: `${maps}/one` } as const
const list = { method: 'GET', path: maps } as const
/**
 * A watch on a namespace without objects. A watch occupies its seat until it has sent all existing
 * objects. If there were objects, this would depend on how fast the client reads.
 */
const watch = {
  method: 'GET',
  path: '/api/v1/namespaces/empty/configmaps?watch=1&timeoutSeconds=3',
  isWatch: true,
} as const
const lease = (name: string, namespace = 'kube-node-lease') =>
  ({
    method: 'GET',
    path: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`,
  }) as const
/** A create. It is a dry run, so that its duration does not depend on etcd. */
const create = {
  method: 'POST',
  path: `${maps}?dryRun=All`,
  body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' } },
} as const

/**
 * Factor for the rates below. With these rates, requests of 100 ms would occupy all seats. Here
 * requests take two and a half times as long, so they are sent at a lower rate.
 */
const RATE = 0.4

type RequestTemplate = Omit<TraceRequest, 'atMs' | 'user'>

const named = (pattern: RegExp): string[] => [...users.keys()].filter((name) => pattern.test(name))

const trace = (name: string, ...parts: readonly (readonly TraceRequest[])[]): Trace => ({
  name,
  arrivals: parts.flat().toSorted((one, other) => one.atMs - other.atMs),
})

export function createTraces(seed: number): readonly Trace[] {
  const random = new Random(seed)
  /** Returns Poisson arrivals at this rate, each from a randomly chosen user. */
  const stream = (
    names: readonly string[],
    perSecond: number,
    sent: RequestTemplate,
    { fromMs = 0, toMs = TRACE_MS } = {},
  ) => {
    const arrivals: TraceRequest[] = []
    for (let atMs = fromMs; ; ) {
      atMs += (-Math.log(1 - random.next()) * 1000) / (perSecond * RATE)
      if (atMs >= toMs) return arrivals
      arrivals.push({ atMs, user: random.pick(names), ...sent })
    }
  }
  const people = named(/^user-/)
  const accounts = named(/account-/)
  const nodes = named(/^system:node:/)
  const leases = nodes.flatMap((node) =>
    stream([node], 2, lease(node.slice('system:node:'.length))),
  )
  const elections = [
    ...stream(['system:kube-scheduler'], 2, lease('kube-scheduler', 'kube-system')),
    ...stream(
      ['system:kube-controller-manager'],
      2,
      lease('kube-controller-manager', 'kube-system'),
    ),
    ...stream(['system:serviceaccount:kube-system:elected'], 2, lease('elected', 'kube-system')),
  ]
  return [
    trace('one user floods', stream(['flood'], 200, get), stream(['other'], 5, get)),
    trace('many users flood', stream(people, 250, get)),
    trace('one user and many', stream(['flood'], 150, get), stream(people.slice(0, 10), 60, get)),
    trace('accounts flood', stream(accounts, 300, get), stream(['other'], 5, get)),
    trace('two levels flood', stream(['flood'], 150, get), stream(accounts.slice(0, 1), 200, get)),
    trace('lists flood', stream(['flood'], 60, list), stream(['other'], 5, get)),
    trace(
      'lists and gets of accounts',
      stream(accounts.slice(0, 1), 60, list),
      stream(accounts.slice(1), 100, get),
    ),
    trace('watches flood', stream(['flood'], 120, watch), stream(['other'], 5, get)),
    trace('writes flood', stream(['flood'], 400, create), stream(people.slice(0, 5), 20, create)),
    trace('leases beside a flood', stream(['flood'], 200, get), leases),
    trace(
      'elections beside floods',
      stream(accounts, 250, get),
      stream(people, 100, get),
      elections,
    ),
    trace(
      'a spike',
      stream(['flood'], 20, get),
      stream(people, 600, get, { fromMs: 4000, toMs: 6000 }),
      leases,
      elections,
    ),
  ]
}
