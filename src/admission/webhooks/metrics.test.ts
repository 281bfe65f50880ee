import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { ConditionMetrics } from '../match/condition-metrics.ts'
import { WebhookMetrics } from './metrics.ts'

test('a removed webhook leaves no metrics behind, and the metrics of other webhooks are kept', () => {
  const metrics = new Metrics()
  const [webhooks, conditions] = [new WebhookMetrics(metrics), new ConditionMetrics(metrics)]
  for (const name of ['gone.example.com', 'kept.example.com']) {
    for (const type of ['admit', 'validating'] as const) {
      const call = { name, type, operation: 'CREATE', seconds: 0 }
      webhooks.count({ ...call, code: 200, rejection: undefined })
      webhooks.count({ ...call, code: 403, rejection: 'no_error' })
      webhooks.count({ ...call, code: 0, rejection: 'apiserver_internal_error' })
      webhooks.countFailOpen(name, type)
      conditions.observeWebhook({
        webhook: name,
        type,
        operation: 'CREATE',
        seconds: 0,
        errors: 1,
        isExcluded: true,
      })
    }
  }
  const lines = (name: string): number => metrics.print().split(name).length - 1
  const kept = lines('kept.example.com')
  assert.equal(lines('gone.example.com'), kept)
  webhooks.forget('gone.example.com', 'validating')
  conditions.forgetWebhook('gone.example.com', 'validating')
  assert.equal(lines('gone.example.com'), kept / 2)
  webhooks.forget('gone.example.com', 'admit')
  conditions.forgetWebhook('gone.example.com', 'admit')
  assert.equal(lines('gone.example.com'), 0)
  assert.equal(lines('kept.example.com'), kept)
})

test('webhook status codes above 600 are counted as 600, as in kube-apiserver', () => {
  const metrics = new Metrics()
  const webhooks = new WebhookMetrics(metrics)
  const call = { name: 'a.example.com', type: 'admit', operation: 'CREATE', seconds: 0 } as const
  for (const code of [601, 700, 999])
    webhooks.count({ ...call, code, rejection: 'calling_webhook_error' })
  const text = metrics.print()
  assert.match(text, /request_total\{code="600",.*\} 3\n/)
  assert.match(text, /rejection_code="600",.*\} 3\n/)
  assert.doesNotMatch(text, /code="(601|700|999)"/)
})
