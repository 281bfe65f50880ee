import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { AuthorizationMetrics } from './metrics.ts'

test('authorization decisions are counted by result, and the error of an authorizer is counted unless the request is allowed', () => {
  const metrics = new Metrics()
  const counts = new AuthorizationMetrics(metrics)
  counts.decided({ verdict: 'allow', reason: '', error: 'e' }, 2)
  counts.decided({ verdict: 'deny', reason: '' }, 3)
  counts.decided({ verdict: 'deny', reason: '', error: 'e' }, 1)
  counts.decided({ verdict: 'no-opinion', reason: '' }, 1)
  counts.decided({ verdict: 'no-opinion', reason: '' }, 1)
  const counted = [
    ...metrics.print().matchAll(/^authorization_attempts_total\{result="(.*)"\} (\d+)$/gm),
  ]
  assert.deepEqual(
    counted.map(([, result, count]) => `${result} ${count}`),
    ['allowed 1', 'denied 1', 'no-opinion 2', 'error 1'],
  )
  assert.match(metrics.print(), /^authorization_duration_seconds_sum\{result="allowed"\} 0.002$/m)
  assert.match(
    metrics.print(),
    /^authorization_duration_seconds_bucket\{result="denied",le="0.002"\} 0$/m,
  )
})
