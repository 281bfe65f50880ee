import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../lib/telemetry/metrics.ts'
import { MeasuredEngine } from './measured-engine.ts'
import { MemoryEngine } from './memory/memory-engine.ts'

test('a late request of a removed resource adds no metrics, and a minute later requests are counted again', async () => {
  const metrics = new Metrics()
  let nowMs = 0
  await using engine = new MeasuredEngine(new MemoryEngine(), {
    root: '/registry/',
    metrics,
    requestLabels: {
      names: ['operation', 'type'],
      of: (path, operation) => [operation, path.slice(0, path.indexOf('/'))],
    },
    monotonicMs: () => nowMs,
  })
  const list = () => engine.range({ from: '/registry/things/', to: '/registry/things0' })
  const counts = () => metrics.print().match(/^etcd_requests_total.* \d+$/gm) ?? []
  const counted = 'etcd_requests_total{operation="list",type="things"} 1'
  await list()
  assert.deepEqual(counts(), [counted])
  engine.forget('/registry/things/')
  await list()
  assert.deepEqual(counts(), [])
  nowMs += 61_000
  await list()
  assert.deepEqual(counts(), [counted])
})
