import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { AvailabilityMetrics } from './metrics.ts'

test('the metrics of a deleted APIService are removed', () => {
  const metrics = new Metrics()
  const availability = new AvailabilityMetrics(metrics)
  const lost = { status: 'False', reason: 'ServiceNotFound', message: '' }
  for (const name of ['v1.gone.example.com', 'v1.kept.example.com']) {
    availability.seen(name, lost)
    availability.lost(name, lost)
  }
  availability.forget('v1.gone.example.com')
  const text = metrics.print()
  assert.doesNotMatch(text, /gone/)
  assert.match(text, /apiservice_total\{name="v1.kept.example.com",reason="ServiceNotFound"\} 1\n/)
})
