import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { AuditTrail, comparableEvent, inOrder } from './audit.ts'
import { Companions } from './companions.ts'

test('each audit event of a scenario is returned once, without events of other scenarios and of the test runner', async (t) => {
  await using companions = await Companions.start({ flags: [] })
  companions.dir = mkdtempSync(join(tmpdir(), 'keelson-trail-'))
  t.after(() => rmSync(companions.dir ?? '', { recursive: true }))
  const trail = new AuditTrail(companions, 'oracle-1')
  assert.deepEqual(trail.untaken('log'), [])
  const own = '{"auditID":"a","userAgent":"oracle/1.0 (oracle-1)"}'
  const lines = [
    own,
    '{"auditID":"b","userAgent":"oracle/1.0 (oracle-2)"}',
    '{"auditID":"c","requestURI":"/oracle-1"}',
  ]
  writeFileSync(
    join(companions.dir, 'audit.log'),
    `${lines.join('\n')}\n{"auditID":"d","userAgent":"oracle-1`,
  )
  assert.deepEqual(trail.untaken('log'), [own])
  trail.take([own])
  assert.deepEqual(trail.untaken('log'), [])
})

test('audit events are ordered by the time at which their request was received', () => {
  const events = [
    { requestReceivedTimestamp: '2026-01-01T00:00:00.000001Z', stage: 'RequestReceived' },
    { requestReceivedTimestamp: '2026-01-01T00:00:00.000002Z', stage: 'RequestReceived' },
    { requestReceivedTimestamp: '2026-01-01T00:00:00.000001Z', stage: 'ResponseComplete' },
  ]
  const [first, second, third] = events
  assert.deepEqual(inOrder(events.map((event) => JSON.stringify(event))), [first, third, second])
})

test('the comparison of audit events ignores latencies and the resourceVersions of lists', () => {
  const list = { items: [], metadata: { resourceVersion: '7' } }
  assert.deepEqual(
    comparableEvent({
      requestURI: '/api/v1/pods?watch=1&resourceVersion=7',
      annotations: { 'apiserver.latency.k8s.io/total': '600ms' },
      responseObject: list,
    }),
    {
      requestURI: '/api/v1/pods?watch=1&resourceVersion=<rv>',
      responseObject: { items: [], metadata: {} },
    },
  )
})
