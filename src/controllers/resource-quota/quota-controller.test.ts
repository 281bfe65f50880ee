import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpenCharges } from '../../admission/resource-quota/open-charges.ts'
import { fieldsOf, type KubeObject } from '../../api/object.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { silent } from '../../lib/telemetry/log.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { builtIn, MemoryControlPlane } from '../../../test/support/harness/memory-control-plane.ts'
import { until } from '../../../test/support/harness/until.ts'
import { QueueMetrics } from '../../lib/telemetry/queue-metrics.ts'
import { QuotaController } from './quota-controller.ts'

const quotas = builtIn('resourcequotas')
const configMaps = builtIn('configmaps')

const named = (
  kind: string,
  namespace: string,
  name: string,
  more: Partial<KubeObject> = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace, uid: `${namespace}-${name}` },
  ...more,
})

const limited = (namespace: string, used: string): KubeObject => {
  const hard = { configmaps: '2' }
  return named('ResourceQuota', namespace, 'q', {
    spec: { hard },
    status: { hard, used: { configmaps: used } },
  })
}

async function usedIn({ accessOf }: MemoryControlPlane, namespace: string): Promise<unknown> {
  const { keys, reader } = accessOf(quotas)
  const status = (await reader.get(keys.key(namespace, 'q'), 'latest')).item?.object()['status']
  return fieldsOf(fieldsOf(status)['used'])['configmaps']
}

test('a recount of a quota keeps the charge for an object that is not stored yet', async () => {
  await using plane = await MemoryControlPlane.start([quotas, configMaps])
  const openCharges = new OpenCharges()
  const gates = { release: 33, isOn: () => true }
  const metrics = new QueueMetrics(new Metrics())
  await plane.create(configMaps, named('ConfigMap', 'busy', 'old'))
  await plane.create(configMaps, named('ConfigMap', 'other', 'old'))
  await using stack = new AsyncDisposableStack()
  const { registry, accessOf, handle } = plane
  stack.use(
    new QuotaController({
      registry,
      accessOf,
      handle,
      openCharges,
      metrics,
      gates,
      clock: systemClock,
      log: silent,
    }),
  )
  const end = openCharges.begin('busy')
  // One object is stored, and another one is charged but not stored yet.
  await plane.create(quotas, limited('busy', '2'))
  await plane.create(quotas, limited('other', '2'))
  await until(async () => (await usedIn(plane, 'other')) === '1', 'quotas are counted')
  assert.equal(await usedIn(plane, 'busy'), '2')
  await plane.create(configMaps, named('ConfigMap', 'busy', 'new'))
  end()
  await plane.remove(configMaps, 'busy', 'old')
  await until(async () => (await usedIn(plane, 'busy')) === '1', 'the deleted object is given back')
})
