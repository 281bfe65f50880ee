import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestContext, type RequestInfo } from '../../api/context.ts'
import { defaultGatesOf } from '../../api/gates.ts'
import { request } from '../../api/own-request.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { systemUser } from '../../api/user.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { RequestMetrics } from './request-metrics.ts'

test('long resource names that a client invents for an unavailable aggregated API server do not become label values', async () => {
  const metrics = new Metrics()
  const counted = new RequestMetrics(metrics, { monotonicMs: () => 0 })
  const ask = async (subresource: string): Promise<void> => {
    const place = {
      group: 'example.com',
      version: 'v1',
      plural: 'things',
      namespace: '',
      name: 'thing',
    }
    const info: RequestInfo = {
      kind: 'resource',
      verb: 'get',
      ...place,
      subresource,
      segments: [],
      isWatchPath: false,
    }
    await request(
      async (http) => {
        counted.remoteUnavailable(http, info)
        return { status: 503, headers: {}, body: Buffer.alloc(0) }
      },
      { method: 'GET', path: '/', signal: new AbortController().signal },
    )
  }
  await ask('status')
  for (let at = 0; at < 20; at++) await ask(`${at}${'a'.repeat(10_000)}`)
  const text = metrics.print()
  assert.match(text, /terminations_total\{.*subresource="status".*\} 1\n/)
  assert.match(text, /terminations_total\{.*verb="other".*\} 20\n/)
  assert.ok(text.length < 10_000, `${text.length}`)
})

test('the metrics of dropped and terminated requests are removed together with their resource', () => {
  const metrics = new Metrics()
  const counted = new RequestMetrics(metrics, { monotonicMs: () => 0 })
  const pods = builtInResources({
    isServed: () => true,
    gates: { release: 33, isOn: () => true },
  }).find(({ plural }) => plural === 'pods')
  assert.ok(pods)
  const ended = {
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    scope: 'cluster',
    verb: 'LIST',
  }
  counted.dropped(ended, '')
  counted.terminated(ended, 504)
  assert.equal(metrics.print().match(/resource="pods"/g)?.length, 3)
  counted.forget(pods)
  assert.doesNotMatch(metrics.print(), /resource="pods"/)
})

test('a request that begins after its resource was removed creates no metric series', async () => {
  const metrics = new Metrics()
  const counted = new RequestMetrics(metrics, { monotonicMs: () => 0 })
  const [pods] = builtInResources().filter(({ plural }) => plural === 'pods')
  assert.ok(pods)
  const list = (): Promise<unknown> =>
    request(
      async (http) => {
        const context = new RequestContext({
          auditId: 'a',
          info: { kind: 'path', verb: 'get', path: '/' },
          client: http,
          timeoutMs: 1000,
          monotonicMs: () => 0,
        })
        const target = { verb: 'list', resource: pods, namespace: '', name: '' } as const
        const routed = { kind: 'resource', ...target, subresource: '', view: undefined } as const
        const measured = counted.begin({ ...routed, user: systemUser, context, http }, 0)
        const response = measured.answer({ status: 200, headers: {}, body: Buffer.alloc(0) })
        measured.end()
        return response
      },
      { method: 'GET', path: '/api/v1/pods', signal: new AbortController().signal },
    )
  counted.forget(pods)
  await list()
  assert.doesNotMatch(metrics.print(), /resource="pods"/)
})

const metricsOfDryRun = async (release: number): Promise<string> => {
  const metrics = new Metrics()
  const counted = new RequestMetrics(metrics, { monotonicMs: () => 0 })
  const pods = builtInResources({ gates: defaultGatesOf(release) }).find(
    ({ plural }) => plural === 'pods',
  )
  assert.ok(pods)
  await request(
    async (http) => {
      const context = new RequestContext({
        auditId: 'a',
        info: { kind: 'path', verb: 'get', path: '/' },
        client: http,
        timeoutMs: 1000,
        monotonicMs: () => 0,
      })
      const target = { verb: 'create', resource: pods, namespace: 'n', name: 'p' } as const
      const routed = { kind: 'resource', ...target, subresource: '', view: undefined } as const
      const begun = counted.begin({ ...routed, user: systemUser, context, http }, 0)
      const response = begun.answer({ status: 201, headers: {}, body: Buffer.alloc(0) })
      begun.end()
      return response
    },
    {
      method: 'POST',
      path: '/api/v1/namespaces/n/pods',
      query: { dryRun: 'All' },
      signal: new AbortController().signal,
    },
  )
  return metrics.print()
}

test('since 1.35, the durations of dry runs are in one metric less', async () => {
  const [older, newer] = [await metricsOfDryRun(34), await metricsOfDryRun(35)]
  assert.match(older, /request_sli_duration_seconds_count\{.*resource="pods"/)
  assert.doesNotMatch(newer, /request_sli_duration_seconds_count\{.*resource="pods"/)
  assert.match(newer, /request_duration_seconds_count\{.*dry_run="All".*resource="pods"/)
})
