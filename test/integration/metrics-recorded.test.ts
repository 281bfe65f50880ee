/**
 * Compares our metrics and their values with those of kube-apiserver, which
 * test/recorded/metrics/record.ts has recorded.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reasonOf } from '../../scripts/reference/absent-metrics.ts'
import { registeredMetrics } from '../../scripts/reference/metrics.ts'
import { createClient } from '../recorded/compat/client.ts'
import { startEtcd } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { countedOf, exercise } from '../recorded/metrics/exercise.ts'
import { describeMetrics, type MetricDescription } from '../recorded/metrics/exposition.ts'
import recorded from '../recorded/metrics/recorded.json' with { type: 'json' }

test('each metric of kube-apiserver has the same type, stability, labels and buckets, or a reason why it is missing', async () => {
  const ours = new Map((await registeredMetrics()).map((metric) => [metric.name, metric]))
  const theirs: { readonly [name: string]: MetricDescription } = {
    ...recorded.metrics,
    ...recorded.slis,
  }
  for (const [name, { type, stability = 'ALPHA', labels, buckets }] of Object.entries(theirs)) {
    const own = ours.get(name)
    if (own === undefined) {
      assert.ok(reasonOf(name) !== '')
      continue
    }
    const shown = {
      type: own.type,
      stability: own.stability ?? 'ALPHA',
      labels: own.labels ?? [],
      buckets: own.bounds,
    }
    assert.deepEqual(shown, { type, stability, labels, buckets }, name)
  }
  for (const name of recorded.runtime) if (!ours.has(name)) assert.ok(reasonOf(name) !== '')
})

test('the same requests are counted as in kube-apiserver', { timeout: 300_000 }, async () => {
  await using etcd = await startEtcd()
  await using server = await startKeelson({ etcdUrl: etcd.clientUrl })
  using client = createClient({ server: server.url, token: server.token })
  await exercise(client)
  const { raw } = await client.request({ method: 'GET', path: '/metrics' })
  assert.deepEqual(countedOf(raw.toString()), recorded.counted)
  const slis = await client.request({ method: 'GET', path: '/metrics/slis' })
  assert.deepEqual(describeMetrics(slis.raw.toString()), recorded.slis)
})
