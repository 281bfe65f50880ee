import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccessDecision } from '../api/access.ts'
import { AuthorizationMetrics } from '../access/authorization/metrics.ts'
import { request } from '../api/own-request.ts'
import type { ApiRequest, ApiResponse, Handler } from '../api/request.ts'
import type { User } from '../api/user.ts'
import { systemClock } from '../lib/time/clock.ts'
import { silent } from '../lib/telemetry/log.ts'
import type { MaybePromise } from '../lib/concurrency/maybe-promise.ts'
import { Metrics } from '../lib/telemetry/metrics.ts'
import { Verbosity } from '../lib/telemetry/verbosity.ts'
import { builtInResources } from '../registry/built-in.ts'
import { Registry } from '../registry/registry.ts'
import { InFlight } from './filters/in-flight.ts'
import { RequestMetrics } from './filters/request-metrics.ts'
import { bestLongestTurnMs } from '../../test/support/harness/turns.ts'
import { createPipeline } from './pipeline.ts'
import { SlowRequests } from './slow-requests.ts'

const alice: User = { name: 'alice', uid: '', groups: [], extra: {} }
const found: ApiResponse = { status: 200, headers: {}, body: Buffer.from('{}') }
const TURN_MS_MAX = 50
const path = '/api/v1/namespaces/a/configmaps/b'

const unexpected = async (): Promise<ApiResponse> => assert.fail('another kind of request')

const later = <T>(value: T): Promise<T> =>
  new Promise((resolve) => setImmediate(() => resolve(value)))

type PipelineFixture = { readonly handle: Handler; readonly seen: string[] }

type Options = {
  readonly verdict?: AccessDecision['verdict']
  readonly isLeaving?: boolean
  /** Whether the authenticator and the authorizer respond asynchronously. */
  readonly isSlow?: boolean
  readonly serve?: () => Promise<ApiResponse>
}

function world(options: Options = {}): PipelineFixture {
  const { verdict = 'allow', isLeaving = false, isSlow = false, serve } = options
  const answer = <T>(value: T): MaybePromise<T> => (isSlow ? later(value) : value)
  const seen: string[] = []
  const handle = createPipeline({
    release: 33,
    clock: systemClock,
    log: silent,
    newAuditId: () => 'id',
    server: { isLeaving },
    cors: undefined,
    constantHeaders: {},
    context: { requestTimeoutMs: 1000, onContext: () => seen.push('context') },
    authenticate: () => {
      seen.push('authenticate')
      return answer({ user: alice })
    },
    authorize: ({ name }) => {
      seen.push(`authorize ${name}`)
      return answer({ verdict, reason: '' })
    },
    hintsFor: () => [],
    authorizationMetrics: new AuthorizationMetrics(new Metrics()),
    limits: { flowControl: undefined, inFlight: new InFlight({ readOnlyMax: 1, mutatingMax: 1 }) },
    routing: {
      registry: new Registry(builtInResources()),
      apiServices: { remoteAt: () => undefined },
    },
    serving: {
      dispatch: async ({ verb, name }) => {
        seen.push(`${verb} ${name}`)
        return serve === undefined ? found : serve()
      },
      documents: unexpected,
      proxy: unexpected,
    },
    observers: {
      metrics: new RequestMetrics(new Metrics(), systemClock),
      isServed: () => true,
      audit: undefined,
      traces: undefined,
      verbosity: new Verbosity(0),
      slow: new SlowRequests(silent),
    },
  })
  return { handle, seen }
}

function get({ handle }: PipelineFixture, ownUser?: User): Promise<ApiResponse> {
  const send = (http: ApiRequest): Promise<ApiResponse> => handle(http, ownUser)
  return request(send, { method: 'GET', path, signal: new AbortController().signal })
}

test('a request passes through the stages of the pipeline in order', async () => {
  const one = world()
  const { status, headers } = await get(one)
  assert.equal(status, 200)
  assert.equal(headers['audit-id'], 'id')
  assert.deepEqual(one.seen, ['context', 'authenticate', 'authorize alice', 'get b'])
})

test("the server's own requests are authorized but not authenticated", async () => {
  const one = world()
  await get(one, { ...alice, name: 'system' })
  assert.deepEqual(one.seen, ['context', 'authorize system', 'get b'])
})

test('a request that is not authorized is rejected without being handled', async () => {
  const one = world({ verdict: 'deny' })
  const { status } = await get(one)
  assert.equal(status, 403)
  assert.deepEqual(one.seen, ['context', 'authenticate', 'authorize alice'])
})

test('a request waits for an asynchronous authenticator and authorizer', async () => {
  const one = world({ isSlow: true })
  assert.equal((await get(one)).status, 200)
  assert.deepEqual(one.seen, ['context', 'authenticate', 'authorize alice', 'get b'])
  const other = world({ isSlow: true, verdict: 'deny' })
  assert.equal((await get(other)).status, 403)
  assert.deepEqual(other.seen, ['context', 'authenticate', 'authorize alice'])
})

test('during shutdown, the server rejects requests before any other stage runs', async () => {
  const one = world({ isLeaving: true })
  const { status, endsConnection } = await get(one)
  assert.equal(status, 429)
  assert.equal(endsConnection, true)
  assert.deepEqual(one.seen, [])
})

test('an unexpected error results in status 500 and releases the seat of the request', async () => {
  const one = world({ serve: () => Promise.reject(new Error('broken')) })
  assert.equal((await get(one)).status, 500)
  assert.equal((await get(one)).status, 500, 'not 429: the only seat is free again')
})

test('many requests with headers, names and options of almost a megabyte do not block the event loop', async () => {
  const long = '"'.repeat(900_000)
  const requests: readonly Partial<ApiRequest>[] = [
    { headers: { 'impersonate-user': long } },
    { headers: { 'impersonate-user': 'u', 'impersonate-group': long } },
    { headers: { 'impersonate-uid': long } },
    { path: `/api/v1/namespaces/a/configmaps/${long}` },
    { path: `/api/v1/${long}` },
    { path: `/${long}` },
    { path: '/a'.repeat(450_000) },
    { query: new URLSearchParams({ resourceVersion: long }), rawQuery: long },
    { query: new URLSearchParams({ timeout: long }), rawQuery: long },
  ]
  for (const sent of requests) {
    const { handle } = world({ verdict: 'deny' })
    const signal = new AbortController().signal
    const send = (http: ApiRequest): Promise<ApiResponse> => handle({ ...http, ...sent }, undefined)
    const ms = await bestLongestTurnMs(async () => {
      const sixteen = Array.from({ length: 16 }, () =>
        request(send, { method: 'GET', path, signal }),
      )
      for (const { status } of await Promise.all(sixteen)) assert.ok(status >= 400, `${status}`)
    })
    assert.ok(ms < TURN_MS_MAX, `${ms} ms: ${JSON.stringify(sent).slice(0, 60)}`)
  }
})
