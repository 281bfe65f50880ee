import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handler } from '../api/request.ts'
import { silent } from '../lib/telemetry/log.ts'
import { Metrics } from '../lib/telemetry/metrics.ts'
import { builtIn, MemoryControlPlane } from '../../test/support/harness/memory-control-plane.ts'
import { answering } from '../../test/support/harness/remote-api-server.ts'
import { until } from '../../test/support/harness/until.ts'
import { ObjectController } from './object-controller.ts'
import { QueueMetrics } from '../lib/telemetry/queue-metrics.ts'

test('a write is not retried immediately if it fails with a conflict although the object is unchanged', async () => {
  const configMaps = builtIn('configmaps')
  await using plane = await MemoryControlPlane.start([configMaps])
  let writes = 0
  const handle: Handler = async (request, user) => {
    if (request.method !== 'PUT') return plane.handle(request, user)
    writes++
    return answering(409, '{"kind":"Status","reason":"Conflict"}')
  }
  const { registry, accessOf } = plane
  const metrics = new QueueMetrics(new Metrics())
  await using parts = new AsyncDisposableStack()
  parts.use(
    new ObjectController(
      {
        ...{ name: 'test', queue: 'test', workersMax: 1, group: '', plural: 'configmaps' },
        concerns: () => true,
        work: async (object, { update }) => void (await update(object)),
      },
      { handle, registry, accessOf, metrics, log: silent },
    ),
  )
  await plane.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'n' },
  })
  await until(() => writes > 0, 'the object is written')
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  assert.ok(writes < 15, `${writes} writes in a second`)
})
