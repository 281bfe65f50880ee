/**
 * Tests that clients cannot make the number of metric series grow (CVE-2020-8552): values that
 * clients can choose freely do not become labels.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createClient } from '../recorded/compat/client.ts'
import { adminToken, startTestServer, type TestServer } from './support.ts'

let server: TestServer

before(async () => {
  server = await startTestServer()
})

after(() => server[Symbol.asyncDispose]())

test('attack: requests with arbitrary values add no series of metrics', {
  timeout: 120_000,
}, async () => {
  using client = createClient({ server: server.url, token: adminToken })
  /**
   * Returns the number of series of each metric. All buckets of a histogram count as one series.
   */
  const seriesNow = async (): Promise<Map<string, number>> => {
    const { raw } = await client.request({ method: 'GET', path: '/metrics' })
    const lines = raw.toString().split('\n')
    const series = new Set(
      lines.flatMap((line) =>
        line.startsWith('#') ? [] : [line.replace(/,?le="[^"]*"|\s\S+$/g, '')],
      ),
    )
    return new Map(
      [...Map.groupBy(series, (one) => one.replace(/\{.*/, ''))].map(([name, all]) => [
        name,
        all.length,
      ]),
    )
  }
  const hostile = async (at: number): Promise<void> => {
    const text = `x${at}`
    const pods = '/api/v1/namespaces/default/pods'
    const requests: [string, string, { [name: string]: string }][] = [
      ['GET', `/${text}`, {}],
      ['GET', `/apis/${text}.example.com/v1/${text}`, {}],
      ['GET', `/api/v1/${text}`, {}],
      ['GET', `/api/v1/namespaces/${text}/pods/${text}/${text}`, {}],
      ['GET', `/healthz/${text}`, {}],
      ['GET', `/metrics/${text}`, {}],
      ['GET', `${pods}?dryRun=${text}&fieldManager=${text}`, {}],
      ['POST', `${pods}?dryRun=${text}`, { 'content-type': `application/${text}` }],
      ['GET', pods, { accept: `application/${text}`, 'user-agent': text }],
      ['GET', pods, { authorization: `Bearer ${text}` }],
      ['GET', pods, { 'impersonate-user': text, 'impersonate-group': text }],
      [
        'GET',
        `${pods}?labelSelector=${text}&fieldSelector=metadata.name=${text}&continue=${text}`,
        {},
      ],
      ['DELETE', `${pods}/${text}?propagationPolicy=${text}`, {}],
      ['PATCH', `${pods}/${text}`, { 'content-type': `application/${text}-patch+json` }],
      ['PURGE', pods, {}],
      ['REPORT', `/${text}`, {}],
    ]
    for (const [method, path, headers] of requests) await client.request({ method, path, headers })
  }
  for (let at = 0; at < 5; at++) await hostile(at)
  const first = await seriesNow()
  for (let at = 5; at < 55; at++) await hostile(at)
  const grown = [...(await seriesNow())].map(
    ([name, count]) => [name, count - (first.get(name) ?? 0)] as const,
  )
  // The server may add a few series by itself, for example after its first large garbage
  // collection. If clients could choose the value of a label, each of the 50 rounds would add at
  // least one series.
  const faults = grown.filter(([, more]) => more >= 10)
  assert.deepEqual(faults, [], 'metrics with more series after 800 requests')
})
