import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import { request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { silent } from '../lib/telemetry/log.ts'
import { Metrics } from '../lib/telemetry/metrics.ts'
import { QueueMetrics } from '../lib/telemetry/queue-metrics.ts'
import { builtIn, MemoryControlPlane } from '../../test/support/harness/memory-control-plane.ts'
import { until } from '../../test/support/harness/until.ts'
import { cleanTokens } from './token-cleaner.ts'

const secrets = builtIn('secrets')
const namespace = 'kube-system'
const { signal } = new AbortController()

const token = (name: string, expiration: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace, uid: name },
  type: 'bootstrap.kubernetes.io/token',
  data: { expiration: Buffer.from(expiration).toString('base64') },
})

test('an expired token that is renewed just before its deletion is kept', async () => {
  await using plane = await MemoryControlPlane.start([secrets])
  const { registry, accessOf } = plane
  const deletes: string[] = []
  const handle: Handler = async (asked, user) => {
    if (asked.method === 'DELETE') {
      deletes.push(asked.path)
      const path = `/api/v1/namespaces/${namespace}/secrets/renewed`
      const body = token('renewed', '2100-01-01T00:00:00Z')
      await request(plane.handle, { method: 'PUT', path, body, signal })
    }
    return plane.handle(asked, user)
  }
  const metrics = new QueueMetrics(new Metrics())
  await plane.create(secrets, token('renewed', '2000-01-01T00:00:00Z'))
  await plane.create(secrets, token('zz', '2000-01-01T00:00:00Z'))
  await using _ = cleanTokens(Date.now, { handle, registry, accessOf, metrics, log: silent })
  const { keys, reader } = accessOf(secrets)
  const names = async (): Promise<(string | undefined)[]> => {
    const { items } = await reader.list(keys.range(), 'latest')
    return items.map((item) => item.object().metadata.name)
  }
  await until(async () => !(await names()).includes('zz'), 'the other token is deleted')
  assert.deepEqual(await names(), ['renewed'])
  assert.equal(deletes.length, 2)
})
