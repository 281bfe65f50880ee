/**
 * Control of a cluster over HTTPS, for programs in other languages: faults, history, clock,
 * snapshots and forks. All paths begin with /keelson/testing/. They are authorized like any
 * non-resource path: by `cluster-admin`, or by a role with `nonResourceURLs`.
 */
import { ApiError, toStatus } from '../../api/errors.ts'
import { parseJson } from '../../api/json-value.ts'
import type { Kubeconfig } from '../../api/kubeconfig.ts'
import { fieldsOf, type Fields } from '../../api/object.ts'
import { objectOf } from '../../api/own-request.ts'
import type { ApiRequest, ApiResponse, Handler } from '../../api/request.ts'
import { messageOf } from '../../lib/errors.ts'
import type { ApplySource } from './apply.ts'
import { checkEffect, checkMatch } from './check-fault.ts'
import { checkRequest, checkUser, sourceOf } from './check-request.ts'
import type { TestClock } from './clock.ts'
import type { TestUser } from './credentials.ts'
import type { FaultEffect } from './fault-effect.ts'
import type { Fault, Faults } from './faults.ts'
import type { TestRequest, TestResponse } from './own-client.ts'
import type { HistoryFilter } from './recorded-request.ts'
import type { Snapshot } from './snapshot.ts'
import type { TimelineEntry } from './timeline.ts'
import type { StoredObject, Write } from './write.ts'

const prefix = '/keelson/testing/'

/** Maximum number of faults. A larger number most likely results from an endless loop. */
const FAULTS_MAX = 200
/** Maximum number of faults with staleRead, because each has its own server. */
const STALE_READS_MAX = 16
/**
 * Maximum number of snapshots. Each snapshot retains all objects that have changed since it was
 * created.
 */
const SNAPSHOTS_MAX = 1_000
const FORKS_MAX = 1_000

/** The methods and properties of a cluster that programs in other languages can use. */
export type ControlledCluster = {
  readonly url: string
  readonly token: string
  readonly kubeconfig: Kubeconfig
  readonly faults: Faults
  readonly clock: TestClock
  kubeconfigFor(user: TestUser): Kubeconfig
  request(request: TestRequest): Promise<TestResponse<unknown>>
  apply(source: ApplySource): Promise<StoredObject[]>
  history(filter: HistoryFilter): Write[]
  timeline(filter: HistoryFilter): TimelineEntry[]
  snapshot(): Snapshot
  restore(snapshot: Snapshot): Promise<void>
  reset(): Promise<void>
  fork(): Promise<ControlledCluster>
  stop(): Promise<void>
  onStopped(run: () => void): void
}

type Route = (
  cluster: ControlledCluster,
  request: { readonly body: Fields; readonly query: URLSearchParams; readonly id: string },
) => unknown

export class Control {
  readonly #cluster: ControlledCluster
  readonly #faults = new Map<string, Fault>()
  readonly #snapshots = new Map<string, Snapshot>()
  readonly #forks = new Set<ControlledCluster>()
  #forking = 0
  #hasEnded = false
  #last = 0

  constructor(cluster: ControlledCluster) {
    this.#cluster = cluster
  }

  /**
   * Wraps a handler. Requests for the control paths are served here, and all others are passed to
   * `next`.
   */
  around(handle: Handler, next: Handler): Handler {
    return async (request) => {
      if (!request.path.startsWith(prefix)) return next(request)
      const refused = await this.#refusal(handle, request)
      return refused ?? this.#answer(request)
    }
  }

  /** Removes all faults and snapshots after the cluster was reset. */
  clear(): void {
    this.#faults.clear()
    this.#snapshots.clear()
  }

  /** Stops all forks. If a fork is still being created, it is stopped as soon as it exists. */
  async end(): Promise<void> {
    this.#hasEnded = true
    await Promise.all([...this.#forks].map((fork) => fork.stop()))
  }

  /**
   * Returns undefined if the user of the request is authorized, and otherwise the response to the
   * request. Finds this out with a SelfSubjectAccessReview, which it sends with the credentials of
   * the request.
   */
  async #refusal(handle: Handler, request: ApiRequest): Promise<ApiResponse | undefined> {
    const { path, method } = request
    const spec = { nonResourceAttributes: { path, verb: method.toLowerCase() } }
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec }
    const bytes = Buffer.from(JSON.stringify(review))
    const answer = await handle({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      query: new URLSearchParams(),
      // Keep the headers that identify the user, such as Authorization and Impersonate-User.
      headers: {
        ...withoutBody(request.headers),
        accept: 'application/json',
        'content-type': 'application/json',
      },
      hasBody: true,
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
    const [what = '', id = '', ...actions] = request.path.slice(prefix.length).split('/')
    const path = [what, ...(id === '' && actions.length === 0 ? [] : ['*']), ...actions].join('/')
    const route = this.#routes.get(`${request.method} ${path}`)
    if (route === undefined)
      return respond(NOT_FOUND, { message: `unknown request: ${request.method} ${request.path}` })
    try {
      const body = await bodyOf(request)
      const result: unknown = await route(this.#cluster, { body, query: request.query, id })
      return respond(OK, result ?? {})
    } catch (error) {
      if (error instanceof ApiError) return respond(error.code, toStatus(error))
      return respond(error instanceof NotThereError ? NOT_FOUND : BAD_REQUEST, {
        message: messageOf(error),
      })
    }
  }

  readonly #routes: ReadonlyMap<string, Route> = new Map<string, Route>([
    ['GET ', (cluster) => accessOf(cluster)],
    [
      'POST kubeconfigs',
      (cluster, { body }) => {
        const user: unknown = body
        checkUser(user, 'the body')
        return { kubeconfig: cluster.kubeconfigFor(user) }
      },
    ],
    [
      'POST requests',
      (cluster, { body }) => {
        const wanted: unknown = body
        checkRequest(wanted)
        return cluster.request(wanted)
      },
    ],
    ['POST apply', async (cluster, { body }) => ({ objects: await cluster.apply(sourceOf(body)) })],
    [
      'POST faults',
      (cluster, { body: { match, effect, ...others } }) => {
        refuseOthers('the body', others)
        const wanted: unknown = match ?? {}
        checkMatch(wanted)
        const what: unknown = effect
        checkEffect(what, wanted)
        const stale = [...this.#faults.values()].filter((fault) => isStale(fault.effect)).length
        if (isStale(what) && stale >= STALE_READS_MAX)
          throw tooMany('faults with staleRead', STALE_READS_MAX)
        return {
          id: this.#keep(this.#faults, FAULTS_MAX, 'faults', () => cluster.faults.on(wanted, what)),
        }
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
    ['GET timeline', (cluster, { query }) => ({ entries: cluster.timeline(filterOf(query)) })],
    ['GET clock', (cluster) => ({ now: cluster.clock.now() })],
    [
      'POST clock',
      async (cluster, { body: { advance, ...others } }) => {
        refuseOthers('the body', others)
        if (typeof advance !== 'number' && typeof advance !== 'string') {
          throw new TypeError('advance must be milliseconds, or a duration such as "1h"')
        }
        await cluster.clock.advance(advance)
        return { now: cluster.clock.now() }
      },
    ],
    [
      'POST snapshots',
      (cluster) => ({
        id: this.#keep(this.#snapshots, SNAPSHOTS_MAX, 'snapshots', () => cluster.snapshot()),
      }),
    ],
    [
      'DELETE snapshots/*',
      (_, { id }) => {
        this.#find(this.#snapshots, id)
        this.#snapshots.delete(id)
      },
    ],
    [
      'POST snapshots/*/restore',
      (cluster, { id }) => cluster.restore(this.#find(this.#snapshots, id)),
    ],
    ['POST reset', (cluster) => cluster.reset()],
    [
      'POST forks',
      async (cluster) => {
        // Also count the forks that are still being created (`#forking`).
        if (this.#forks.size + this.#forking >= FORKS_MAX) throw tooMany('forks', FORKS_MAX)
        this.#forking++
        const fork = await cluster.fork().finally(() => this.#forking--)
        if (this.#hasEnded) {
          await fork.stop()
          throw new Error('the cluster has been stopped')
        }
        this.#forks.add(fork)
        fork.onStopped(() => this.#forks.delete(fork))
        return accessOf(fork)
      },
    ],
    // Stop the cluster only after the response has been sent.
    ['POST stop', (cluster) => void setImmediate(() => void cluster.stop())],
  ])

  #keep<T>(all: Map<string, T>, max: number, what: string, create: () => T): string {
    if (all.size >= max) throw tooMany(what, max)
    const id = String(++this.#last)
    all.set(id, create())
    return id
  }

  #find<T>(all: ReadonlyMap<string, T>, id: string): T {
    const found = all.get(id)
    if (found === undefined) throw new NotThereError(`unknown id ${JSON.stringify(id)}`)
    return found
  }
}

/**
 * Returns the URL and the credentials with which a client can use a cluster as an administrator.
 */
const accessOf = ({ url, token, kubeconfig }: ControlledCluster) => ({ url, token, kubeconfig })

class NotThereError extends Error {}

const isStale = (effect: FaultEffect): boolean => 'staleRead' in effect

const tooMany = (what: string, max: number): RangeError =>
  new RangeError(`there are already ${max} ${what}: remove some, or reset the cluster`)

function refuseOthers(what: string, others: Fields): void {
  const [name] = Object.keys(others)
  if (name !== undefined) throw new TypeError(`${what}: unknown field ${JSON.stringify(name)}`)
}

/** Returns the headers of a request, except for those that describe its body. */
const withoutBody = (headers: ApiRequest['headers']): ApiRequest['headers'] =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(?:content|transfer)-/.test(name)),
  )

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

const bigIntsAsNumbers = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? Number(value) : value

async function bodyOf(request: ApiRequest): Promise<Fields> {
  const bytes = await request.body()
  if (bytes.length === 0) return {}
  const parsed = parseJson(bytes)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new TypeError('the body is not a JSON object')
  return fieldsOf(parsed)
}

const filterFields = [
  'resource',
  'group',
  'namespace',
  'name',
  'user',
  'verb',
  'source',
  'after',
] as const

function filterOf(query: URLSearchParams): HistoryFilter {
  const given = [...query]
  for (const [name, value] of given) {
    if (!filterFields.some((field) => field === name))
      throw new TypeError(`unknown parameter ${JSON.stringify(name)}`)
    if (name === 'after' && !/^\d+$/.test(value))
      throw new TypeError('after is not a resourceVersion')
  }
  return Object.fromEntries(given)
}
