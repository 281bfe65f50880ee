/**
 * The faults, the history, the clock and the states of a cluster over HTTPS, for programs in other languages: paths under /keelson/testing/.
 * Who may use them is decided as for any path that is no resource: `cluster-admin` may, and who has a role with `nonResourceURLs`.
 */
import { ApiError, toStatus } from '../api/errors.ts'
import { parseJson } from '../api/json-value.ts'
import type { Kubeconfig } from '../api/kubeconfig.ts'
import { fieldsOf, type Fields, textOf } from '../api/object.ts'
import { objectOf } from '../api/own-request.ts'
import type { ApiRequest, ApiResponse, Handler } from '../api/request.ts'
import type { Handle } from '../handle.ts'
import type { TestClock } from './clock.ts'
import type { FaultMatch } from './fault-match.ts'
import type { Fault, FaultEffect, Faults } from './faults.ts'
import type { HistoryFilter, Write } from './history.ts'
import type { Snapshot } from './snapshot.ts'

const prefix = '/keelson/testing/'

/** Of each of faults, snapshots and forks: more is a loop that has no end. */
const KEPT_MAX = 10_000

/** What a cluster offers to programs. */
export type Controlled = {
  readonly url: string
  readonly kubeconfig: Kubeconfig
  readonly faults: Faults
  readonly clock: TestClock
  history(filter: HistoryFilter): Write[]
  snapshot(): Snapshot
  restore(snapshot: Snapshot): Promise<void>
  reset(): Promise<void>
  fork(): Promise<Controlled>
  stop(): Promise<void>
  onStopped(run: () => void): void
}

type Route = (
  cluster: Controlled,
  request: { readonly body: Fields; readonly query: URLSearchParams; readonly id: string },
) => unknown

export class Control {
  readonly #cluster: Controlled
  readonly #faults = new Map<string, Fault>()
  readonly #snapshots = new Map<string, Snapshot>()
  readonly #forks = new Set<Controlled>()
  #last = 0

  constructor(cluster: Controlled) {
    this.#cluster = cluster
  }

  /** Answers these paths itself, and leaves all others to the handler. */
  around(handle: Handle, next: Handler): Handler {
    return async (request) => {
      if (!request.path.startsWith(prefix)) return next(request)
      const refused = await this.#refusal(handle, request)
      return refused ?? this.#answer(request)
    }
  }

  /** Ends the forks. */
  async end(): Promise<void> {
    await Promise.all([...this.#forks].map((fork) => fork.stop()))
  }

  /** Undefined: the user may. The server itself is asked, with the credentials of the request. */
  async #refusal(handle: Handle, request: ApiRequest): Promise<ApiResponse | undefined> {
    const { path, method } = request
    const spec = { nonResourceAttributes: { path, verb: method.toLowerCase() } }
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec }
    const bytes = Buffer.from(JSON.stringify(review))
    const { authorization } = request.headers
    const answer = await handle({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      query: new URLSearchParams(),
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: async () => bytes,
      pipeBody: async (take) => take(bytes),
      signal: request.signal,
      remoteAddress: request.remoteAddress,
      peerCertificate: () => request.peerCertificate(),
    })
    if (answer.status !== CREATED) return answer
    if (fieldsOf(fieldsOf(objectOf(answer))['status'])['allowed'] === true) return undefined
    return respond(FORBIDDEN, { message: `${path}: forbidden`, reason: 'Forbidden' })
  }

  async #answer(request: ApiRequest): Promise<ApiResponse> {
    const [what = '', id = '', action = ''] = request.path.slice(prefix.length).split('/')
    const route = this.#routes.get(
      `${request.method} ${what}${id === '' ? '' : '/*'}${action === '' ? '' : `/${action}`}`,
    )
    if (route === undefined) return respond(NOT_FOUND, { message: `${request.method} ${request.path} is not there` })
    try {
      const body = await bodyOf(request)
      const result: unknown = await route(this.#cluster, { body, query: request.query, id })
      return respond(OK, result ?? {})
    } catch (error) {
      if (error instanceof ApiError) return respond(error.code, toStatus(error))
      return respond(BAD_REQUEST, { message: error instanceof Error ? error.message : String(error) })
    }
  }

  readonly #routes: ReadonlyMap<string, Route> = new Map<string, Route>([
    ['GET ', (cluster) => ({ url: cluster.url, kubeconfig: cluster.kubeconfig })],
    [
      'POST faults',
      (cluster, { body }) => {
        const fault = cluster.faults.on(matchOf(body['match']), effectOf(body['effect']))
        return { id: this.#keep(this.#faults, fault) }
      },
    ],
    ['GET faults/*', (_, { id }) => ({ hits: this.#find(this.#faults, id).hits })],
    [
      'DELETE faults/*',
      (_, { id }) => {
        this.#find(this.#faults, id).off()
        this.#faults.delete(id)
      },
    ],
    [
      'DELETE faults',
      (cluster) => {
        cluster.faults.clear()
        this.#faults.clear()
      },
    ],
    ['GET history', (cluster, { query }) => ({ writes: cluster.history(filterOf(query)) })],
    ['GET clock', (cluster) => ({ now: cluster.clock.now() })],
    [
      'POST clock',
      async (cluster, { body }) => {
        const { advance } = body
        await cluster.clock.advance(typeof advance === 'number' ? advance : textOf(advance))
        return { now: cluster.clock.now() }
      },
    ],
    ['POST snapshots', (cluster) => ({ id: this.#keep(this.#snapshots, cluster.snapshot()) })],
    ['DELETE snapshots/*', (_, { id }) => void this.#snapshots.delete(id)],
    ['POST snapshots/*/restore', (cluster, { id }) => cluster.restore(this.#find(this.#snapshots, id))],
    ['POST reset', (cluster) => cluster.reset()],
    [
      'POST forks',
      async (cluster) => {
        if (this.#forks.size >= KEPT_MAX) throw new RangeError('there are too many forks: stop some')
        const fork = await cluster.fork()
        this.#forks.add(fork)
        fork.onStopped(() => this.#forks.delete(fork))
        return { url: fork.url, kubeconfig: fork.kubeconfig }
      },
    ],
    // The answer comes before the end.
    ['POST stop', (cluster) => void setImmediate(() => void cluster.stop())],
  ])

  #keep<T>(all: Map<string, T>, one: T): string {
    if (all.size >= KEPT_MAX) throw new RangeError('there are too many of them: remove some')
    const id = String(++this.#last)
    all.set(id, one)
    return id
  }

  #find<T>(all: ReadonlyMap<string, T>, id: string): T {
    const found = all.get(id)
    if (found === undefined) throw new RangeError(`there is no ${JSON.stringify(id)}`)
    return found
  }
}

const OK = 200
const CREATED = 201
const BAD_REQUEST = 400
const FORBIDDEN = 403
const NOT_FOUND = 404

const respond = (status: number, body: unknown): ApiResponse => ({
  status,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
  body: Buffer.from(JSON.stringify(body, bigIntsAsNumbers)),
})

const bigIntsAsNumbers = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value)

async function bodyOf(request: ApiRequest): Promise<Fields> {
  const bytes = await request.body()
  if (bytes.length === 0) return {}
  const parsed: unknown = parseJson(bytes)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new TypeError('the body is no object')
  return fieldsOf(parseJson(bytes))
}

const matchFields = {
  verb: 'any',
  resource: 'string',
  namespace: 'string',
  name: 'string',
  after: 'number',
  times: 'number',
}

function matchOf(given: Fields[string]): FaultMatch {
  const fields = fieldsOf(given)
  for (const [name, value] of Object.entries(fields)) {
    const wanted = new Map(Object.entries(matchFields)).get(name)
    if (wanted === undefined) throw new TypeError(`match: there is no ${JSON.stringify(name)}`)
    if (wanted !== 'any' && typeof value !== wanted) throw new TypeError(`match.${name} is no ${wanted}`)
  }
  return fields
}

const effects = ['status', 'conflict', 'delayMs', 'dropConnection', 'closeWatch', 'staleRead'] as const

function effectOf(given: Fields[string]): FaultEffect {
  if (!isEffect(given)) throw new TypeError(`effect: one of ${effects.join(', ')}`)
  return given
}

const isEffect = (given: unknown): given is FaultEffect => {
  const known = effects.filter((name) => typeof given === 'object' && given !== null && name in given)
  return known.length === 1
}

const filterFields = ['resource', 'group', 'namespace', 'name', 'user', 'verb', 'source', 'after'] as const

function filterOf(query: URLSearchParams): HistoryFilter {
  const given = filterFields.flatMap((name) => (query.has(name) ? [[name, query.get(name) ?? '']] : []))
  return Object.fromEntries(given)
}
